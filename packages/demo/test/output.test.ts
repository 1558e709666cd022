import { choosePalette } from '@kubecred/cli/internal'
import { describe, expect, it } from 'vitest'
import { NO_BREAK, Output } from '../src/output.ts'

function makeOutput({ isLive, columns }: { isLive: boolean; columns?: number }): {
  output: Output
  writes: string[]
} {
  const writes: string[] = []
  const out = { write: (text: string) => writes.push(text) > 0 }
  const palette = choosePalette(false, {})
  return { output: new Output(out, { palette, isLive, columns: () => columns }), writes }
}

describe('output to a terminal', () => {
  it('keeps the status line below events, in one write', () => {
    const { output, writes } = makeOutput({ isLive: true, columns: 60 })
    output.showStatus(['3 requests'])
    output.report(4, 'It happened.')
    expect(writes).toEqual([
      '\r  3 requests\u001b[K',
      '\r  4 s  It happened.\u001b[K\n  3 requests',
    ])
  })

  it('writes nothing if the status has not changed', () => {
    const { output, writes } = makeOutput({ isLive: true, columns: 60 })
    output.showStatus(['3 requests'])
    output.showStatus(['3 requests'])
    expect(writes).toHaveLength(1)
  })

  it('leaves out what does not fit, and never reaches the last column', () => {
    const { output, writes } = makeOutput({ isLive: true, columns: 40 })
    output.showStatus(['12 requests, 0 failed', 'left: jane 3 s', '14 plugin runs'])
    output.showStatus(['x'.repeat(100)])
    expect(writes[0]).toBe('\r  12 requests, 0 failed\u001b[K')
    expect(writes[1]).toBe(`\r  ${'x'.repeat(37)}\u001b[K`)
  })

  it('erases the status line at the end', () => {
    const { output, writes } = makeOutput({ isLive: true, columns: 60 })
    output.showStatus(['3 requests'])
    output.clearStatus()
    output.print(['The end.'])
    expect(writes.slice(1)).toEqual(['\r\u001b[K', 'The end.\n'])
  })
})

describe('output elsewhere', () => {
  it('has events and no status line', () => {
    const { output, writes } = makeOutput({ isLive: false })
    output.showStatus(['3 requests'])
    output.report(12, 'It happened.')
    output.clearStatus()
    expect(writes).toEqual([' 12 s  It happened.\n'])
  })

  it('breaks long sentences, but not between a number and its unit', () => {
    const { output, writes } = makeOutput({ isLive: false, columns: 30 })
    output.report(1, `A request waited for 20${NO_BREAK}ms`)
    expect(writes).toEqual(['  1 s  A request waited for\n       20 ms\n'])
  })

  it('stays readable on a terminal that reports no columns', () => {
    const { output, writes } = makeOutput({ isLive: false, columns: 0 })
    output.report(1, 'Three words here')
    expect(writes).toEqual(['  1 s  Three words here\n'])
  })
})
