import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { forwardLines } from '../../src/node/bounded-output.ts'
import { scrub } from '../../src/secret/scrub.ts'
import { Secret } from '../../src/secret/secret.ts'
import { runFacts } from '../../src/sources/plugin-run-errors.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'

const SECRET = 'kq7-vw3zx-81jp-t5d'
const SECRETS = [new Secret(SECRET)]

/** What is reported and kept when a plugin prints these pieces, each in a separate write. */
async function follow(pieces: readonly (string | Uint8Array)[]) {
  const stream = new PassThrough()
  const passed: string[] = []
  const tail = forwardLines(stream, (text) => void passed.push(text))
  for (const piece of pieces) {
    stream.write(piece)
    await new Promise(setImmediate)
  }
  const early = passed.join('')
  stream.end()
  await new Promise((resolve) => stream.once('close', resolve))
  const outcome = { ended: 'timed-out', tookMs: 0, stderrTail: tail() } as const
  const shown = runFacts(outcome, SECRETS).stderrTail ?? ''
  return { early, passed, all: passed.join(''), tail: tail(), shown }
}

describe('the standard error of a plugin is reported', () => {
  it('in whole lines, and the rest when it ends', async () => {
    const { early, passed } = await follow(['one\ntw', 'o\nth', 'ree'])
    expect([early, passed]).toEqual(['one\ntwo\n', ['one\n', 'two\n', 'three']])
  })

  it('with characters that fall between two writes', async () => {
    const bytes = Buffer.from('grüße\n')
    const { all, tail } = await follow([bytes.subarray(0, 3), bytes.subarray(3)])
    expect([all, tail]).toEqual(['grüße\n', 'grüße\n'])
  })

  it('without lines that are too long, and with what follows them', async () => {
    const { all } = await follow(['one\n', 'x'.repeat(70_000), 'x'.repeat(70_000), 'x\ntwo\n'])
    expect(all).toBe('one\n[a line too long to show]\ntwo\n')
  })

  it('up to a limit', async () => {
    const { all } = await follow(Array.from({ length: 100 }, () => `${'x'.repeat(9999)}\n`))
    expect(all.length).toBeLessThan(300_000)
  })

  it('with a private key in one piece, so that the scrubber recognises it', async () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${'A1b2'.repeat(16)}\n${'C3d4'.repeat(16)}\n-----END PRIVATE KEY-----\n`
    const { passed, early } = await follow([...`key: ${key}`.split(/(?<=\n)/), 'done\n'])
    expect(early).toContain('done\n')
    expectNoLeak([passed.map((text) => scrub(text))], ['A1b2'.repeat(16), 'C3d4'.repeat(16)])
  })
})

describe('no part of a secret in standard error is shown', () => {
  it('however it is split between writes', async () => {
    const pieces = fc.array(fc.constantFrom(SECRET, 'a', ' ', '\n', 'words '), { maxLength: 60 })
    const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(pieces, cuts, async (parts, lengths) => {
        const writes: string[] = []
        let text = parts.join('')
        for (let i = 0; text !== ''; i += 1) {
          const length = lengths[i % lengths.length] ?? 1
          writes.push(text.slice(0, length))
          text = text.slice(length)
        }
        const { passed, shown } = await follow(writes)
        expectNoLeak([passed.map((each) => scrub(each, SECRETS)), shown], [SECRET])
      }),
      { numRuns: 100 },
    )
  })

  it.each([4084, 8180, 65_524])('if the tail is cut after %d characters', async (length) => {
    for (const filler of ['x'.repeat(length), `${'x'.repeat(length - 5)}\nend\n`]) {
      const { passed, shown } = await follow([SECRET + filler])
      expectNoLeak([passed.map((each) => scrub(each, SECRETS)), shown], [SECRET])
    }
  })

  it('if the plugin prints nothing but the secret, endlessly', async () => {
    const { passed, shown } = await follow(Array.from({ length: 40 }, () => SECRET.repeat(500)))
    expectNoLeak([passed.map((each) => scrub(each, SECRETS)), shown], [SECRET])
  })
})

describe('the stderr tail of an error', () => {
  it('is the end of the output', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i}\n`)
    const { tail, shown } = await follow([lines.join('')])
    expect(tail).toMatch(/^line \d+\n/)
    expect(shown).toMatch(/line 19999$/)
    expect(shown.length).toBeLessThanOrEqual(4096)
  })

  it('is missing if there was no output', () => {
    const outcome = { ended: 'timed-out', tookMs: 5, stderrTail: ' \n' } as const
    expect(runFacts(outcome, [])).toEqual({ tookMs: 5 })
  })

  it('shows control characters as code points', async () => {
    expect((await follow(['\u001b]0;title\u0007\u009b2J\n'])).shown).toBe(
      'U+001B]0;titleU+0007U+009B2J',
    )
  })
})
