import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { decodeRequest, readFrames } from '../../../packages/cli/src/agent/protocol.ts'
import { readCorpus } from '../corpus.ts'
import { type FuzzTarget, must } from '../fuzz-target.ts'

const MAX_FRAME_BYTES = 2048

/** What a program sends to the agent. The reference for frames is a split of all bytes at once. */
export const agentFrames: FuzzTarget = {
  name: 'agent-frames',
  about: 'frames are the same however they arrive, and each is a request or nothing',
  async open() {
    return {
      corpus: readCorpus('agent-frames'),
      words: [
        '"do":',
        '"get"',
        '"deposit"',
        '"outcome":',
        '"env":',
        '"path":"/',
        '"args":',
        '"pid":',
      ],
      check(input) {
        const expected = split(input)
        for (const size of [1, 7, 64, Math.max(input.length, 1)]) {
          must(isDeepStrictEqual(framesOf(input, size), expected), `frames differ by ${size} bytes`)
        }
        for (const text of expected.frames) checkRequest(text)
      },
    }
  },
}

interface Frames {
  readonly frames: readonly string[]
  readonly isTooLong: boolean
}

/** Reads the bytes as they would arrive in chunks of this size. */
function framesOf(input: Buffer, size: number): Frames {
  const frames: string[] = []
  let isTooLong = false
  const socket = Object.assign(new EventEmitter(), { destroyed: false })
  readFrames(
    socket as unknown as Socket,
    {
      onFrame: (text) => void frames.push(text),
      onTooLong: () => {
        isTooLong = true
      },
    },
    MAX_FRAME_BYTES,
  )
  for (let at = 0; at < input.length; at += size) socket.emit('data', input.subarray(at, at + size))
  return { frames, isTooLong }
}

/** The lines before the first one that is too long. The last one is not complete. */
function split(input: Buffer): Frames {
  const lines = input.toString('latin1').split('\n')
  const long = lines.findIndex((line) => line.length > MAX_FRAME_BYTES)
  const complete = long === -1 ? lines.slice(0, -1) : lines.slice(0, long)
  return {
    frames: complete.map((line) => Buffer.from(line, 'latin1').toString('utf8')),
    isTooLong: long !== -1,
  }
}

function checkRequest(text: string): void {
  const request = decodeRequest(text)
  if (request === undefined) return
  const sent = JSON.parse(text)
  must(Object.hasOwn(sent, 'do') && sent.do === request.do, 'another request was read')
  if (request.do !== 'get' && request.do !== 'look') return
  must(/^\/[^\0]*$/.test(request.path), 'the path is not absolute')
  must(/^\/[^\0]*$/.test(request.cwd), 'the folder is not absolute')
  const texts: unknown[] = [...request.args, ...request.files, ...Object.values(request.env)]
  must(
    texts.every((each) => typeof each === 'string'),
    'a value is not text',
  )
  for (const time of [request.ttlMs, request.timeoutMs]) {
    must(time === undefined || time > 0, 'a time is not positive')
  }
}
