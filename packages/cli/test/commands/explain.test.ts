import { CODES } from 'kubecred/errors'
import { describe, expect, it } from 'vitest'
import { runFake } from '../run-fake.ts'

describe('kubecred explain', () => {
  it('shows meaning, cause and remedy of a code, and whether it is retryable', async () => {
    const { status, out } = await runFake(['explain', 'ERR_PLUGIN_EXITED'])
    expect(status).toBe(0)
    const { meaning: means, remedy } = CODES.ERR_PLUGIN_EXITED
    for (const part of [means, remedy, 'the credential plugin', 'retryable:    yes', '33']) {
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

  it('lists every code, each with its own exit status', async () => {
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

  it.each(['plugin', 'signer', 'kubeconfig', 'server', 'login', 'agent', 'err_plugin_'])(
    'lists the codes of the group %s with one line each',
    async (group) => {
      const { status, out } = await runFake(['explain', group])
      expect(status).toBe(0)
      const prefix = `ERR_${group.replace(/^err_|_$/g, '').toUpperCase()}_`
      const codes = Object.keys(CODES).filter((code) => code.startsWith(prefix))
      const [, ...rows] = out.trimEnd().split('\n')
      expect(rows.map((line) => line.split(/ +/)[1])).toEqual(codes)
    },
  )

  it('says whether a code is retryable', async () => {
    const { out } = await runFake(['explain', 'ERR_PLUGIN_NOT_FOUND'])
    expect(out).toMatch(/^ {2}retryable: +no$/m)
  })

  it('suggests a similar code', async () => {
    const { err } = await runFake(['explain', 'ERR_PLUGIN_EXITD'])
    expect(err).toContain('did you mean ERR_PLUGIN_EXITED?')
  })

  it('prints JSON for one code, a group, or all codes', async () => {
    const one = await runFake(['explain', '33', '-o', 'json'])
    expect(JSON.parse(one.out)).toMatchObject({ code: 'ERR_PLUGIN_EXITED', exit: 33 })
    const group = await runFake(['explain', 'agent', '-o', 'json'])
    expect(JSON.parse(group.out)).toContainEqual(
      expect.objectContaining({ code: 'ERR_AGENT_LOCKED', retryable: expect.any(Boolean) }),
    )
    const all = await runFake(['explain', '-o', 'json'])
    expect(JSON.parse(all.out)).toHaveLength(Object.keys(CODES).length)
  })
})
