import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Cluster, type ConnectOptions, connect } from '../packages/core/src/index.ts'
import type { KubeconfigUser, PluginCommand, Sandbox } from '../packages/sandbox/src/index.ts'
import type { Credentials } from './request-credentials.ts'
import type { RequestCase } from './run-request.ts'

/** Writes the kubeconfig of a case and opens its connections. */
export async function openConnections(
  given: RequestCase,
  sandbox: Sandbox,
  credentials: Credentials,
  { plugin, apiVersion }: { plugin: PluginCommand; apiVersion: string },
): Promise<Cluster[]> {
  const user: KubeconfigUser = {
    ...(await staticUser(given, credentials)),
    ...(given.exec !== false && { exec: describeExec(given, sandbox, plugin, apiVersion) }),
  }
  const options: ConnectOptions = {
    kubeconfig: writeKubeconfig(given, sandbox, user),
    env: { HOME: sandbox.folder, PATH: process.env['PATH'], ...given.env },
    ...(await flagsOf(given, sandbox, credentials)),
  }
  const opening = Array.from({ length: given.connections ?? 1 }, () => connect(options))
  return Promise.all(opening)
}

/** Writes the CA to a file, which the sandbox cannot do. */
function writeKubeconfig({ caFile }: RequestCase, sandbox: Sandbox, user: KubeconfigUser): string {
  const path = sandbox.writeKubeconfig({ user })
  if (caFile === undefined) return path
  writeFileSync(join(sandbox.folder, 'ca.crt'), sandbox.caPem)
  const config = JSON.parse(readFileSync(path, 'utf8'))
  const { cluster } = config.clusters[0]
  cluster['certificate-authority'] = caFile
  delete cluster['certificate-authority-data']
  writeFileSync(path, JSON.stringify(config))
  return path
}

async function staticUser(
  { user = {} }: RequestCase,
  credentials: Credentials,
): Promise<KubeconfigUser> {
  const { token, certificate, ...rest } = user
  const pair = certificate && (await credentials.certificate(certificate))
  return {
    ...rest,
    ...(token && { token: credentials.token(token) }),
    ...(pair && { certificate: pair.certificate, key: pair.key }),
  }
}

async function flagsOf(
  { flags = {} }: RequestCase,
  sandbox: Sandbox,
  credentials: Credentials,
): Promise<ConnectOptions> {
  const { token, certificate, ...rest } = flags
  const pair = certificate && (await credentials.certificate(certificate))
  const place = (name: string, text: string): string => {
    const path = join(sandbox.folder, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  return {
    ...rest,
    ...(token && { token: credentials.token(token) }),
    ...(pair && {
      clientCertificate: place('flag.crt', pair.certificate),
      clientKey: place('flag.key', pair.key),
    }),
  }
}

function describeExec(
  { exec = {} }: RequestCase,
  sandbox: Sandbox,
  plugin: PluginCommand,
  apiVersion: string,
): NonNullable<KubeconfigUser['exec']> {
  const { notExecutable, ...more } = exec === false ? {} : exec
  const described = { ...plugin, apiVersion, ...more }
  if (!notExecutable) return described
  const command = join(sandbox.folder, 'not-executable')
  writeFileSync(command, '#!/bin/sh\n', { mode: 0o600 })
  return { ...described, command }
}
