import type { Readable } from 'node:stream'

/** Collects bytes up to a limit and says when there are more. */
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

/** The end of standard error that is kept: longer than what is shown, so that secrets in it are whole. */
const TAIL_LENGTH = 64 * 1024
/** What is passed on of one run; a plugin that prints more than this has nothing to say. */
const PASSED_ON_LENGTH = 256 * 1024
const LONGEST_LINE = 64 * 1024

/**
 * Passes text on line by line and keeps its tail, which begins with a line too.
 *
 * Whole lines, and whole PEM blocks, so that a secret cannot slip through a scrubber by falling between
 * two chunks or under a cut. A line that is too long to wait for is left out.
 */
export function forwardLines(stream: Readable, onText: (text: string) => void): () => string {
  const decoder = new TextDecoder()
  let tail = ''
  let isCut = false
  let rest = ''
  let isSkipping = false
  let budget = PASSED_ON_LENGTH
  const pass = (text: string): void => {
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
    const end = endOfWhole(rest)
    pass(rest.slice(0, end))
    rest = rest.slice(end)
    if (rest.length <= LONGEST_LINE) return
    isSkipping = true
    rest = ''
    pass('[a line too long to show]\n')
  })
  stream.on('end', () => pass(rest))
  return () => (isCut ? fromNextLine(tail) : tail)
}

/** Nothing when there is no next line: the rest of a line may begin with the rest of a secret. */
function fromNextLine(text: string): string {
  const end = text.indexOf('\n')
  return end === -1 ? '' : text.slice(end + 1)
}

/** Where the last whole line ends, or the last one before a PEM block that is still open. */
function endOfWhole(text: string): number {
  const begin = text.lastIndexOf('-----BEGIN ')
  const isOpen = begin !== -1 && text.indexOf('-----END ', begin) === -1
  return text.lastIndexOf('\n', isOpen ? begin : undefined) + 1
}
