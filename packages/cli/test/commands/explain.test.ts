import { CODES } from 'kubecred/errors'
import { describe, expect, it } from 'vitest'
import { runFake } from '../run-fake.ts'

describe('kubecred explain', () => {
  it('says what a code means, whose fault it is and what to do', async () => {
    const { status, out } = await runFake(['explain', 'ERR_PLUGIN_EXITED'])
    expect(status).toBe(0)
    const { means, remedy } = CODES.ERR_PLUGIN_EXITED
    for (const part of [means, remedy, 'the credential plugin', 'may pass if tried again', '33']) {
      expect(out).toContain(part)
    }
  })

  it.each(['err_plugin_exited', 'PLUGIN_EXITED', 'plugin-exited', '33'])(
    'knows %s',
    async (typed) => {
      const { out } = await runFake(['explain', typed])
      expect(out).toMatch(/^ERR_PLUGIN_EXITED\n/)
    },
  )

  it('lists every code, each with an exit status of its own', async () => {
    const { out } = await runFake(['explain'])
    for (const code of Object.keys(CODES)) expect(out).toContain(code)
    const statuses = Object.values(CODES).map(({ exit }) => exit)
    expect(new Set(statuses).size).toBe(statuses.length)
  })

  it.each(['toString', 'constructor', '__proto__', 'hasOwnProperty', '99'])(
    'does not know %s',
    async (typed) => {
      const { status, out, err } = await runFake(['explain', typed])
      expect({ status, out }).toEqual({ status: 2, out: '' })
      expect(err).toContain('unknown')
    },
  )

  it('asks whether another code was meant', async () => {
    const { err } = await runFake(['explain', 'ERR_PLUGIN_EXITD'])
    expect(err).toContain('did you mean ERR_PLUGIN_EXITED?')
  })

  it('gives programs an object, or all of them', async () => {
    const one = await runFake(['explain', '33', '-o', 'json'])
    expect(JSON.parse(one.out)).toMatchObject({ code: 'ERR_PLUGIN_EXITED', exit: 33 })
    const all = await runFake(['explain', '-o', 'json'])
    expect(JSON.parse(all.out)).toHaveLength(Object.keys(CODES).length)
  })
})
