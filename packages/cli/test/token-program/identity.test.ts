import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentHome, answers, execInfo } from './agent-home.ts'

let home: AgentHome

beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.close())

describe('different requesters never share:', () => {
  it('two profiles of one account', async () => {
    const plugin = home.plugin('bin/aws', answers('$AWS_PROFILE'))
    const ask = (profile: string) => home.token(['--', plugin], { AWS_PROFILE: profile })
    const many = await Promise.all(['dev', 'prod', 'dev', 'prod'].map(ask))
    expect(many.map(({ token }) => token)).toEqual(['dev', 'prod', 'dev', 'prod'])
    expect(home.runs).toBe(2)
  })

  it('two arguments, two clusters, two current folders of an unknown plugin', async () => {
    const plugin = home.plugin('p', answers())
    const tokens = [
      await home.token(['--', plugin, 'a']),
      await home.token(['--', plugin, 'b']),
      await home.token(['--', plugin, 'a'], {
        KUBERNETES_EXEC_INFO: execInfo(false, { cluster: { server: 'https://other' } }),
      }),
      await home.token(['--ttl', '1m', '--', plugin, 'a']),
      await home.token(['--', plugin, 'a']),
    ].map(({ token }) => token)
    expect(tokens).toEqual(['1', '2', '3', '4', '1'])
  })

  it('but two terminals of the same account do', async () => {
    const plugin = home.plugin('p', answers())
    const first = await home.token(['--', plugin], { TERM: 'xterm', SSH_TTY: '/dev/pts/1' })
    const second = await home.token(['--', plugin], { TERM: 'screen', TMUX: '/tmp/tmux,1' })
    expect([first.token, second.token]).toEqual(['1', '1'])
  })
})

describe('a change of account is noticed', () => {
  it('in the files of a known plugin, also if they are rewritten with the same size', async () => {
    const plugin = home.plugin('bin/aws', answers())
    const config = join(home.env['HOME'] ?? '', '.aws')
    mkdirSync(config)
    const ask = async (): Promise<string | undefined> => (await home.token(['--', plugin])).token
    expect([await ask(), await ask()]).toEqual(['1', '1'])
    writeFileSync(join(config, 'credentials'), 'alice')
    expect([await ask(), await ask()]).toEqual(['2', '2'])
    writeFileSync(join(config, 'new'), 'clara')
    renameSync(join(config, 'new'), join(config, 'credentials'))
    expect([await ask(), await ask()]).toEqual(['3', '3'])
  })

  it('in a file that --depends-on names, relative to the current folder', async () => {
    const plugin = home.plugin('p', answers())
    const args = ['--depends-on', 'account', '--', plugin]
    expect((await home.token(args)).token).toBe('1')
    writeFileSync(home.path('account'), 'jane')
    expect((await home.token(args)).token).toBe('2')
    expect((await home.token(args)).token).toBe('2')
  })
})

describe('after a refusal', () => {
  it('the plugin runs again when the same client asks again, and others get the new credential too', async () => {
    const plugin = home.plugin('p', answers())
    const client = home.client(['--', plugin])
    expect(await client.token()).toBe('1')
    expect((await home.token(['--', plugin])).token).toBe('1')
    expect(await client.token()).toBe('2')
    expect((await home.token(['--', plugin])).token).toBe('2')
    client.end()
    expect(home.runs).toBe(2)
  })

  it('another client with the refused credential gets the new one without another run', async () => {
    const plugin = home.plugin('p', answers())
    const clients = [home.client(['--', plugin]), home.client(['--', plugin])]
    for (const client of clients) expect(await client.token()).toBe('1')
    for (const client of clients) expect(await client.token()).toBe('2')
    for (const client of clients) client.end()
    expect(home.runs).toBe(2)
  })
})
