import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type ConnectOptions, connect, isCredentialError, loginShellEnvironment } from 'kubecred'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let sandbox: Sandbox
let home = ''
beforeAll(async () => {
  sandbox = await startSandbox()
  home = mkdtempSync(join(tmpdir(), 'kubecred-desktop-'))
  // As a version manager installs it: the script and its interpreter are in a folder of the home folder.
  mkdirSync(join(home, 'bin'))
  const { token } = sandbox.issueToken({ user: 'jane' })
  const apiVersion = 'client.authentication.k8s.io/v1'
  const answer = JSON.stringify({ kind: 'ExecCredential', apiVersion, status: { token } })
  program('corp-python', `#!/bin/sh\n. "$1"\n`)
  program('corp-login', `#!/usr/bin/env corp-python\nprintf '%s' '${answer}'\n`)
  writeFileSync(join(home, '.bash_profile'), 'export PATH="$PATH:$HOME/bin"')
})
afterAll(async () => {
  rmSync(home, { recursive: true })
  await sandbox.close()
})

function program(name: string, text: string): void {
  writeFileSync(join(home, 'bin', name), text)
  chmodSync(join(home, 'bin', name), 0o755)
}

/** The environment of a program that launchd or a desktop has started. */
const fromDock = () => ({ HOME: home, PATH: '/usr/bin:/bin' })

async function request(options: ConnectOptions, command = 'corp-login'): Promise<unknown> {
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec: { command } } })
  await using cluster = await connect({ kubeconfig, ...options })
  const response = await cluster.fetch('/api/v1/namespaces').catch((error: unknown) => error)
  if (!(response instanceof Response)) return isCredentialError(response) ? response.code : response
  await response.text()
  return response.status
}

describe.skipIf(process.platform === 'win32')('a program that no shell has started', () => {
  it('does not find a plugin in a folder of the user', async () => {
    expect(await request({ env: fromDock() })).toBe('ERR_PLUGIN_NOT_FOUND')
  })

  it('finds it, and the plugin its interpreter, with the environment of the login shell', async () => {
    const env = await loginShellEnvironment({ shell: '/bin/bash', env: fromDock() })
    expect(await request({ env })).toBe(200)
  })

  it('finds both with policy.pluginFolders', async () => {
    const policy = { pluginFolders: [join(home, 'bin')] }
    expect(await request({ env: fromDock(), policy })).toBe(200)
    // The whole path of the plugin is not enough: env does not find the interpreter.
    const command = join(home, 'bin/corp-login')
    expect(await request({ env: fromDock() }, command)).toBe('ERR_PLUGIN_EXITED')
  })
})
