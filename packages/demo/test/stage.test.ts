import { choosePalette } from '@kubecred/cli/internal'
import { describe, expect, it } from 'vitest'
import { Stage, TIED } from '../src/stage.ts'

function makeStage({ isLive, columns }: { isLive: boolean; columns?: number }): {
  stage: Stage
  writes: string[]
} {
  const writes: string[] = []
  const out = { write: (text: string) => writes.push(text) > 0 }
  const palette = choosePalette(false, {})
  return { stage: new Stage(out, { palette, isLive, columns: () => columns }), writes }
}

describe('on a terminal', () => {
  it('keeps the current line below what is said, in one write', () => {
    const { stage, writes } = makeStage({ isLive: true, columns: 60 })
    stage.show(['3 requests'])
    stage.say(4, 'It happened.')
    expect(writes).toEqual([
      '\r  3 requests\u001b[K',
      '\r  4 s  It happened.\u001b[K\n  3 requests',
    ])
  })

  it('writes nothing when nothing has changed', () => {
    const { stage, writes } = makeStage({ isLive: true, columns: 60 })
    stage.show(['3 requests'])
    stage.show(['3 requests'])
    expect(writes).toHaveLength(1)
  })

  it('leaves out what there is no room for, and never reaches the last column', () => {
    const { stage, writes } = makeStage({ isLive: true, columns: 40 })
    stage.show(['12 requests, 0 failed', 'left: jane 3 s', '14 plugin runs'])
    stage.show(['x'.repeat(100)])
    expect(writes[0]).toBe('\r  12 requests, 0 failed\u001b[K')
    expect(writes[1]).toBe(`\r  ${'x'.repeat(37)}\u001b[K`)
  })

  it('takes the line away at the end', () => {
    const { stage, writes } = makeStage({ isLive: true, columns: 60 })
    stage.show(['3 requests'])
    stage.end()
    stage.plain(['The end.'])
    expect(writes.slice(1)).toEqual(['\r\u001b[K', 'The end.\n'])
  })
})

describe('elsewhere', () => {
  it('says sentences and shows no line', () => {
    const { stage, writes } = makeStage({ isLive: false })
    stage.show(['3 requests'])
    stage.say(12, 'It happened.')
    stage.end()
    expect(writes).toEqual([' 12 s  It happened.\n'])
  })

  it('breaks long sentences, but not between a number and its unit', () => {
    const { stage, writes } = makeStage({ isLive: false, columns: 30 })
    stage.say(1, `Somebody waited for 20${TIED}ms`)
    expect(writes).toEqual(['  1 s  Somebody waited for\n       20 ms\n'])
  })

  it('stays readable where the terminal says that it has no columns', () => {
    const { stage, writes } = makeStage({ isLive: false, columns: 0 })
    stage.say(1, 'Three words here')
    expect(writes).toEqual(['  1 s  Three words here\n'])
  })
})
