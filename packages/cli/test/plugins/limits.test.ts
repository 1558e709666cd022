import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { hasScript, NEEDS_SCRIPT } from '../../../core/test/fixtures/running-program.ts'
import { Served } from '../proxy/proxy-process.ts'
import { Home, PROGRAM_LINE } from '../run/home.ts'
import { screenOf } from '../screen.ts'
import { AgentHome, answers, execInfo, TOKEN_PROGRAM } from '../token-program/agent-home.ts'

const HANGS = fileURLToPath(new URL('../fixtures/hangs.sh', import.meta.url))
const GETS_VERSION = fileURLToPath(new URL('../fixtures/get-on-demand.mjs', import.meta.url))
const TOO_LATE = /did not answer within 0\.3 s/
const HINT = /raise the limit with --plugin-timeout or KUBECRED_PLUGIN_TIMEOUT/

let sandbox: Sandbox
let hanging: string
let home: Home
beforeAll(async () => {
  sandbox = await startSandbox()
  hanging = sandbox.writeKubeconfig({ user: { exec: { command: HANGS } } })
})
beforeEach(() => {
  home = new Home()
})
afterEach(async () => {
  sandbox.respondWith(undefined)
  await home[Symbol.asyncDispose]()
})
afterAll(() => sandbox.close())

describe('the time limit for plugins', () => {
  it.each(['fetch /version', 'whoami', 'doctor', 'token', 'status --run -o json', 'run -- true'])(
    'is a flag of kubecred %s, named in the hint',
    async (line) => {
      const [command = '', ...rest] = line.split(' ')
      const flags = ['--kubeconfig', hanging, '--plugin-timeout', '300ms']
      const { out, err } = await home.run([command, ...flags, ...rest])
      expect(out + err).toMatch(TOO_LATE)
      expect(out + err).toMatch(HINT)
      expect(out + err).not.toContain('policy.')
    },
  )

  it('is a flag of kubecred proxy', async () => {
    const flags = ['--kubeconfig', hanging, '--plugin-timeout', '300ms', '--port', '0', '--no-page']
    const served = await Served.start(home, flags)
    expect(await text(await served.open('/version'))).toMatch(TOO_LATE)
    expect(served.running.err).toMatch(TOO_LATE)
    await served.end()
  })

  it('comes from the variable if the flag is not given', async () => {
    const env = { KUBECRED_PLUGIN_TIMEOUT: '300ms' }
    const first = await home.run(['whoami', '--kubeconfig', hanging], env)
    expect(first.err).toMatch(TOO_LATE)
    const flag = ['--plugin-timeout', '100ms']
    const second = await home.run(['whoami', '--kubeconfig', hanging, ...flag], env)
    expect(second.err).toMatch(/within 0\.1 s/)
  })

  it('is explained with the name of the flag', async () => {
    const { out } = await home.run(['explain', 'ERR_PLUGIN_TIMED_OUT'])
    expect(out).toMatch(HINT)
  })

  describe.skipIf(!hasScript)(`at a terminal (${NEEDS_SCRIPT})`, () => {
    it.each(['Never', 'IfAvailable'] as const)(
      'applies to a plugin with interactiveMode: %s',
      async (interactiveMode) => {
        const exec = { command: HANGS, interactiveMode }
        const path = sandbox.writeKubeconfig({ user: { exec } })
        const line = `${PROGRAM_LINE} whoami --kubeconfig '${path}' --plugin-timeout 300ms`
        const running = home.atTerminal(line)
        expect(await running.end()).toBe(35)
        expect(running.out).toMatch(TOO_LATE)
      },
    )
  })
})

describe.skipIf(!hasScript || !inject('isLong'))(`a plugin of 62 s (${NEEDS_SCRIPT})`, () => {
  const ANSWERS_LATE = `#!/bin/sh\nsleep 62\n${answers('t')}\n`

  it('is waited for at a terminal, and not elsewhere', async () => {
    const command = home.write('late', ANSWERS_LATE, 0o700)
    const exec = { command, interactiveMode: 'Never' } as const
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
    const running = home.atTerminal(`${PROGRAM_LINE} token --kubeconfig '${kubeconfig}'`)
    const elsewhere = await home.run(['token', '--kubeconfig', kubeconfig])
    expect(elsewhere.err).toMatch(/did not answer within 60 s/)
    expect(await running.end()).toBe(0)
    expect(running.out).toContain('"token": "t"')
  }, 120_000)

  it('is waited for behind kubecred-token too', async () => {
    const agent = new AgentHome()
    try {
      const command = home.write('late', ANSWERS_LATE, 0o700)
      const line = tokenLine(agent, command)
      const running = home.atTerminal(line)
      expect(await running.end()).toBe(0)
      expect(running.out).toContain('"token":"t"')
    } finally {
      await agent.close()
    }
  }, 120_000)
})

describe('the statuses that run a plugin again', () => {
  const refuseOnce = async (): Promise<string> => {
    let requests = 0
    sandbox.respondWith(() => (++requests === 1 ? { status: 403 } : undefined))
    const exec = await sandbox.plugin({ user: 'jane', lifetimeMs: 600_000 })
    return sandbox.writeKubeconfig({ user: { exec } })
  }

  it.each([
    ['a flag', ['--refresh-on', '401,403'], {}, 0],
    ['a variable', [], { KUBECRED_REFRESH_ON: '401,403' }, 0],
    ['neither', [], {}, 1],
    ['a flag despite a variable', ['--refresh-on=401'], { KUBECRED_REFRESH_ON: '403' }, 1],
  ])('come from %s', async (_, flags, env, status) => {
    const kubeconfig = await refuseOnce()
    const argv = ['fetch', '/version', '--kubeconfig', kubeconfig, ...flags]
    expect((await home.run(argv, env)).status).toBe(status)
  })
})

describe('the environment variables of plugins', () => {
  it.each([
    ['a flag', ['--plugin-env', 'PATH, SEEN'], {}],
    ['a variable', [], { KUBECRED_PLUGIN_ENV: 'PATH,SEEN' }],
  ])('come from %s', async (_, flags, env) => {
    const seen = home.path('seen')
    const command = home.write('plugin', `#!/bin/sh\nenv > '${seen}'\n${answers('t')}\n`, 0o700)
    const kubeconfig = sandbox.writeKubeconfig({ user: { exec: { command } } })
    const argv = ['token', '--kubeconfig', kubeconfig, ...flags]
    const { status } = await home.run(argv, { SEEN: 'yes', HIDDEN: 'no', ...env })
    expect(status).toBe(0)
    const names = readFileSync(seen, 'utf8').match(/^\w+(?==)/gm)
    expect(names).toEqual(expect.arrayContaining(['PATH', 'SEEN', 'KUBERNETES_EXEC_INFO']))
    expect(names).not.toContain('HIDDEN')
    expect(names).not.toContain('HOME')
  })
})

describe('an error names the source of a bad value:', () => {
  it.each([
    ['plugin-timeout', 'KUBECRED_PLUGIN_TIMEOUT', 'soon', /takes seconds or a time such as 1m30s/],
    ['plugin-timeout', 'KUBECRED_PLUGIN_TIMEOUT', '-1s', /takes seconds or a time such as 1m30s/],
    ['refresh-on', 'KUBECRED_REFRESH_ON', '401,500', /takes 401 and 403/],
    ['refresh-on', 'KUBECRED_REFRESH_ON', '401,', /takes 401 and 403/],
    ['plugin-env', 'KUBECRED_PLUGIN_ENV', 'TOKEN=hunter2', /takes names of variables/],
    ['plugin-env', 'KUBECRED_PLUGIN_ENV', 'A,,B', /takes names of variables/],
  ])('--%s and %s with %j', async (flag, variable, value, words) => {
    for (const [argv, env, name] of [
      [[`--${flag}=${value}`], {}, `flag --${flag} `],
      [[], { [variable]: value }, `variable ${variable} `],
    ] as const) {
      const { status, err } = await home.run(['whoami', '--kubeconfig', hanging, ...argv], env)
      expect(status).toBe(2)
      expect(err).toContain(name)
      expect(err).toMatch(words)
      expect(err).not.toContain('hunter2')
    }
  })
})

describe('kubecred-token', () => {
  let agent: AgentHome
  beforeEach(() => {
    agent = new AgentHome()
  })
  afterEach(() => agent.close())

  it.each([
    ['with the agent', {}],
    ['without the agent', { KUBECRED_AGENT: 'off' }],
  ])('accepts the time limit as a flag, %s', async (_, env) => {
    const plugin = agent.plugin('p', 'exec sleep 600')
    const { err, status } = await agent.token(['--plugin-timeout', '300ms', '--', plugin], env)
    expect(status).toBe(35)
    expect(err).toMatch(TOO_LATE)
    expect(err).toMatch(/raise the limit with --plugin-timeout, before "--" in exec\.args/)
    expect(err).not.toContain('policy.')
  })

  it('passes the variables of --plugin-env to a plugin', async () => {
    const plugin = agent.plugin('p', `env > "\${RUNS}.env"; ${answers('t')}`)
    const flags = ['--plugin-env=PATH,RUNS']
    const { status } = await agent.token([...flags, '--', plugin], { HIDDEN: 'no' })
    expect(status).toBe(0)
    expect(agent.lines('runs.env').join('\n')).not.toMatch(/^(?:HIDDEN|HOME)=/m)
  })

  it('ignores the variables, which a kubeconfig can set', async () => {
    const plugin = agent.plugin('p', answers('t'))
    const env = { KUBECRED_PLUGIN_TIMEOUT: 'soon', KUBECRED_PLUGIN_ENV: 'A=B' }
    expect(await agent.token(['--', plugin], env)).toMatchObject({ status: 0, token: 't' })
  })

  it('shares an answer between calls with different limits', async () => {
    const plugin = agent.plugin('p', answers('t'))
    await agent.token(['--plugin-timeout', '1m', '--', plugin])
    expect(await agent.token(['--', plugin])).toMatchObject({ status: 0, token: 't' })
    expect(agent.runs).toBe(1)
  })

  it('uses the limit with which the agent was started', async () => {
    await agent.program(['agent', 'start', '--plugin-timeout', '300ms'])
    const { err } = await agent.token(['--', agent.plugin('p', 'exec sleep 600')])
    expect(err).toMatch(TOO_LATE)
  })
})

/** A shell command line that calls kubecred-token as a client does. */
function tokenLine({ env }: AgentHome, command: string): string {
  const words = Object.entries({ ...env, KUBERNETES_EXEC_INFO: execInfo() })
  const all = words.map(([name, value]) => `'${name}=${value}'`).join(' ')
  return `env -i ${all} '${process.execPath}' '${TOKEN_PROGRAM}' -- '${command}'`
}

/** A plugin that answers on demand. */
function makeSlow(place: Home, first = ''): { command: string; finish: () => void } {
  const go = place.path('go')
  const script = `#!/bin/sh\n${first}\nwhile [ ! -e '${go}' ]; do sleep 0.1; done\n${answers('t')}\n`
  return { command: place.write('slow', script, 0o700), finish: () => void place.write('go', '') }
}

// Concurrent: each only waits for five seconds.
describe.skipIf(!hasScript).concurrent(`a wait of 5 s at a terminal (${NEEDS_SCRIPT})`, () => {
  const atHome = (work: (place: Home) => Promise<void>) => async () => {
    const place = new Home()
    try {
      await work(place)
    } finally {
      await place[Symbol.asyncDispose]()
    }
  }

  it(
    'is reported once, in a line that stays, while the command of run has the terminal',
    atHome(async (place) => {
      const { token } = sandbox.issueToken({ user: 'jane' })
      // The first answer is immediate; the server refuses it, and the next one is slow.
      const used = place.path('used')
      const first = `if [ ! -e '${used}' ]; then : > '${used}'; ${answers(token)}; exit; fi`
      const { command, finish } = makeSlow(place, first)
      const exec = { command, interactiveMode: 'Never' } as const
      const path = sandbox.writeKubeconfig({ user: { exec } })
      const line = `${PROGRAM_LINE} run --kubeconfig '${path}' -- '${process.execPath}' '${GETS_VERSION}'`
      const running = place.atTerminal(line)
      await running.until('out', /started/)
      sandbox.revoke(token)
      running.child.stdin?.write('\r')
      await running.until('out', /kubecred: waiting for plugin slow \(\d+ s\)\r?\n/)
      finish()
      await running.until('out', /answer \d+/)
      await running.end()
      expect(running.out.match(/waiting for/g)).toHaveLength(1)
    }),
  )

  it(
    'is reported by kubecred proxy while a request waits',
    atHome(async (place) => {
      const { command, finish } = makeSlow(place)
      const exec = { command, interactiveMode: 'Never' } as const
      const path = sandbox.writeKubeconfig({ user: { exec } })
      const line = `${PROGRAM_LINE} proxy -o json --port 0 --no-page --kubeconfig '${path}'`
      const running = place.atTerminal(line)
      const [said] = await running.until('out', /^\{.*\}/m)
      const { port, headerFile } = JSON.parse(said)
      const [name = '', value = ''] = readFileSync(headerFile, 'utf8').trim().split(': ')
      const answer = fetch(`http://127.0.0.1:${port}/version`, { headers: { [name]: value } })
      await running.until('out', /… waiting for plugin slow \(5 s\)/)
      finish()
      await answer
      running.child.stdin?.write('\u0003')
      await running.end()
      expect(screenOf(running.out)).not.toContain('waiting for')
    }),
  )

  it(
    'is reported by kubecred-token',
    atHome(async (place) => {
      const agent = new AgentHome()
      try {
        const { command, finish } = makeSlow(place)
        const running = place.atTerminal(tokenLine(agent, command))
        await running.until('out', /kubecred-token: waiting for plugin ".*slow" \(5 s\)/)
        finish()
        expect(await running.end()).toBe(0)
        expect(running.out.match(/waiting for/g)).toHaveLength(1)
      } finally {
        await agent.close()
      }
    }),
  )
})
