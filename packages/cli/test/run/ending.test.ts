import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ended } from './home.ts'
import { HomeScene } from './home-scene.ts'

const scene = new HomeScene()

describe('the end of the command', () => {
  it.each([0, 255])('with status %i is also ours', async (status) => {
    expect(await scene.runShell(`exit ${status}`)).toMatchObject({ status, err: '' })
    expect(scene.home.leftovers()).toEqual([])
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)('by %s is also ours', async (signal) => {
    const { status, signal: by } = await scene.runShell(`kill -${signal.slice(3)} $$`)
    expect({ status, by }).toEqual({ status: null, by: signal })
    expect(scene.home.leftovers()).toEqual([])
  })

  it('by a signal with a core dump becomes an exit status: our core dump would contain secrets', async () => {
    expect(await scene.runShell('ulimit -c 0; kill -SEGV $$')).toMatchObject({
      status: 139,
      signal: null,
    })
  })

  it.each([
    ['no-such-command-here', 127, 'command "no-such-command-here" not found in PATH'],
    ['/', 126, 'is a folder'],
  ])('before it starts: %j is reported with status %i', async (command, status, text) => {
    const plugin = await scene.sandbox.plugin({ user: 'jane' })
    scene.sandbox.resetPluginRuns()
    const path = scene.sandbox.writeKubeconfig({ user: { exec: plugin } })
    const outcome = await scene.home.run(['run', '--kubeconfig', path, '--', command])
    expect(outcome.status).toBe(status)
    expect(outcome.err).toContain(text)
    // A typing mistake must not ask for a PIN.
    expect(scene.sandbox.pluginRuns).toBe(0)
  })

  it('before it starts: a file that is not a program is reported with 126', async () => {
    const path = scene.home.write('plain', 'nothing', 0o600)
    const { status, err } = await scene.home.run([
      'run',
      '--kubeconfig',
      scene.kubeconfig,
      '--',
      path,
    ])
    expect(status).toBe(126)
    expect(err).toContain('not executable')
    const odd = scene.home.write('odd', '#!/no/such/interpreter\n', 0o700)
    const outcome = await scene.home.run(['run', '--kubeconfig', scene.kubeconfig, '--', odd])
    expect(outcome.status).toBe(126)
    expect(scene.home.leftovers()).toEqual([])
  })
})

describe('a signal', () => {
  it.each(['SIGTERM', 'SIGHUP', 'SIGUSR2', 'SIGABRT'] as const)(
    '%s is forwarded, and the command decides',
    async (signal) => {
      const name = signal.slice(3)
      const running = await scene.startShell(
        `trap 'echo got; exit 7' ${name}; echo ready; while :; do sleep 0.1; done`,
      )
      running.child.kill(signal)
      expect(await ended(running)).toMatchObject({ status: 7, out: 'ready\ngot\n', err: '' })
      expect(scene.home.leftovers()).toEqual([])
    },
  )

  it('is forwarded as often as it comes, and a command that ignores it goes on', async () => {
    const running = await scene.startShell(
      `trap '' HUP; trap 'echo got; exit 7' TERM; echo ready; while :; do sleep 0.1; done`,
    )
    for (let times = 0; times < 50; times += 1) running.child.kill('SIGHUP')
    for (let times = 0; times < 50; times += 1) running.child.kill('SIGTERM')
    const { status, out } = await ended(running)
    expect(status).toBe(7)
    // The shell may run its trap again for signals that have come meanwhile.
    expect(out).toMatch(/^ready\n(?:got\n)+$/)
    expect(scene.home.leftovers()).toEqual([])
  })

  it('that stops us while the command ends loses nothing', async () => {
    const running = await scene.startShell(`echo ready; read line; echo "read $line"`)
    running.child.kill('SIGSTOP')
    running.child.stdin?.write('more\n')
    running.child.kill('SIGCONT')
    expect(await ended(running)).toMatchObject({ status: 0, out: 'ready\nread more\n' })
    expect(scene.home.leftovers()).toEqual([])
  })

  it('SIGUSR1 opens no debugger', async () => {
    const running = await scene.startShell(
      `trap 'echo got' USR1; echo ready; while read line; do :; done`,
    )
    running.child.kill('SIGUSR1')
    await running.until('out', /got/)
    expect((await ended(running)).err).not.toContain('Debugger')
  })

  it('ends a login, and the command never starts', async () => {
    const exec = {
      command: scene.home.write('hangs', '#!/bin/sh\necho waits >&2; exec sleep 600', 0o700),
    }
    const path = scene.sandbox.writeKubeconfig({ user: { exec } })
    const marker = scene.home.path('started')
    const running = scene.home.start(['run', '--kubeconfig', path, '--', 'touch', marker])
    await running.until('err', /waits/)
    running.child.kill('SIGINT')
    expect(await ended(running)).toMatchObject({ status: 130 })
    expect(existsSync(marker)).toBe(false)
    expect(scene.home.leftovers()).toEqual([])
  })

  it('is sent to the command when --timeout has passed', async () => {
    const script = `trap 'echo ending; exit 0' TERM; echo ready; while :; do sleep 0.1; done`
    const running = scene.home.start([
      'run',
      '--timeout',
      '2s',
      '--kubeconfig',
      scene.kubeconfig,
      '--',
      'sh',
      '-c',
      script,
    ])
    const { status, out, err } = await ended(running)
    expect(status).toBe(65)
    expect(out).toContain('ending')
    expect(err).toContain('--timeout=2s')
  })
})

describe('a login that fails', () => {
  it('ends with our error and status, and the command never starts', async () => {
    const exec = {
      command: scene.home.write('fails', '#!/bin/sh\necho no account >&2; exit 3', 0o700),
    }
    const path = scene.sandbox.writeKubeconfig({ user: { exec } })
    const marker = scene.home.path('started')
    const { status, err } = await scene.home.run([
      'run',
      '--kubeconfig',
      path,
      '--',
      'touch',
      marker,
    ])
    expect(status).toBe(33)
    expect(err).toContain('no account')
    expect(existsSync(marker)).toBe(false)
    expect(scene.home.leftovers()).toEqual([])
  })
})
