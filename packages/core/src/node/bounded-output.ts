import type { Readable } from 'node:stream'

/** Collects the bytes of a stream up to a limit; calls `onTooMany` beyond it. Returns a function that reads them. */
export function collectBytes(stream: Readable, limit: number, onTooMany: () => void): () => Buffer {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= limit) chunks.push(chunk)
    else onTooMany()
  })
  return () => Buffer.concat(chunks)
}

/** How much of the end of standard error is kept: more than is shown, so that secrets in it are complete. */
const TAIL_LENGTH = 64 * 1024
/** Limit for what is forwarded of one run. */
const MAX_FORWARDED_LENGTH = 256 * 1024
const MAX_LINE_LENGTH = 64 * 1024

/**
 * Forwards text line by line and keeps its tail, which starts at a line. Returns a function that reads the tail.
 *
 * Only complete lines and complete PEM blocks are forwarded, so that no secret escapes the scrubber because it is split
 * over two chunks. A line that is too long is left out.
 */
export function forwardLines(stream: Readable, onText: (text: string) => void): () => string {
  const decoder = new TextDecoder()
  let tail = ''
  let isCut = false
  let rest = ''
  let isSkipping = false
  let budget = MAX_FORWARDED_LENGTH
  const forward = (text: string): void => {
    if (text === '' || budget <= 0) return
    budget -= text.length
    onText(text)
  }
  stream.on('data', (chunk: Buffer) => {
    const text = decoder.decode(chunk, { stream: true })
    tail += text
    isCut ||= tail.length > TAIL_LENGTH
    tail = tail.slice(-TAIL_LENGTH)
    rest += text
    if (isSkipping) {
      isSkipping = !rest.includes('\n')
      rest = fromNextLine(rest)
    }
    const end = endOfCompleteLines(rest)
    forward(rest.slice(0, end))
    rest = rest.slice(end)
    if (rest.length <= MAX_LINE_LENGTH) return
    isSkipping = true
    rest = ''
    forward('[a line too long to show]\n')
  })
  stream.on('end', () => forward(rest))
  return () => (isCut ? fromNextLine(tail) : tail)
}

/** Returns an empty string if there is no next line: the rest of a line may start within a secret. */
function fromNextLine(text: string): string {
  const end = text.indexOf('\n')
  return end === -1 ? '' : text.slice(end + 1)
}

/** Returns where the last complete line ends, or the last one before an incomplete PEM block. */
function endOfCompleteLines(text: string): number {
  const begin = text.lastIndexOf('-----BEGIN ')
  const isOpen = begin !== -1 && text.indexOf('-----END ', begin) === -1
  return text.lastIndexOf('\n', isOpen ? begin : undefined) + 1
}
