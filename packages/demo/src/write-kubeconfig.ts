import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PluginCommand, Sandbox } from '@kubecred/sandbox'

/** Writes a kubeconfig with readable names, and returns its path. */
export function writeKubeconfig(sandbox: Sandbox, name: string, user: object): string {
  const path = join(sandbox.folder, `${name}.kubeconfig`)
  const authority = Buffer.from(sandbox.caPem).toString('base64')
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [
      { name: 'demo', cluster: { server: sandbox.url, 'certificate-authority-data': authority } },
    ],
    contexts: [{ name, context: { cluster: 'demo', user: name, namespace: 'default' } }],
    users: [{ name, user }],
  }
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 })
  return path
}

/** Returns a kubeconfig user with an exec plugin. */
export function pluginUser({ command, args, env }: PluginCommand): object {
  return {
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command,
      args,
      env: Object.entries(env).map(([name, value]) => ({ name, value })),
      interactiveMode: 'Never',
    },
  }
}

/** Returns a kubeconfig user with an external signer. */
export function signerUser(config: Readonly<Record<string, string>>): object {
  return { 'auth-provider': { name: 'externalSigner', config } }
}
