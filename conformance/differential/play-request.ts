import { join } from 'node:path'
import type { RequestCase } from '../run-request.ts'
import type { Command } from './command.ts'
import type { RecordingPlugin } from './recording-plugin.ts'
import type { Scene } from './scene.ts'

const HOUR_MS = 3_600_000

/** Runs each step as a command. Processes share nothing, so only the plugin and the server have state. */
export async function playRequest(given: RequestCase, scene: Scene): Promise<readonly Command[]> {
  const commands: Command[] = []
  const plugin = scene.plugin()
  for (const version of given.versions ?? ['v1']) {
    const apiVersion = `client.authentication.k8s.io/${version}`
    const config = await writeConfig(given, scene, apiVersion)
    const flags = ['--kubeconfig', config, ...(await flagsOf(given, scene))]
    for (const step of given.steps.length === 0 ? [{}] : given.steps) {
      const before = await prepare(step, scene, plugin, apiVersion)
      commands.push({ flags, before, ...(given.env && { env: given.env }) })
    }
  }
  return commands
}

async function prepare(
  step: Partial<RequestCase['steps'][number]>,
  scene: Scene,
  plugin: RecordingPlugin,
  apiVersion: string,
): Promise<() => void> {
  const { plugin: answer = { token: 'jane' }, revoke = [] } = step
  if (answer.token !== undefined) scene.token(answer.token)
  const { exitCode = 0, expiresInMs = 0 } = answer
  // The clock is real, so a short-lived credential must not expire before its command runs.
  const unhurried = { ...answer, expiresInMs: expiresInMs + HOUR_MS }
  const stdout = await scene.credentials.print(expiresInMs > 0 ? unhurried : answer, apiVersion)
  return () => {
    for (const name of revoke) scene.credentials.revoke(name)
    plugin.answer({ stdout, exitCode })
  }
}

async function writeConfig(given: RequestCase, scene: Scene, apiVersion: string): Promise<string> {
  const { notExecutable, ...more } = given.exec === false ? {} : (given.exec ?? {})
  const file = notExecutable && scene.write('not-executable', '#!/bin/sh\n')
  const exec = {
    apiVersion,
    command: file ?? 'plugin',
    interactiveMode: 'IfAvailable',
    ...more,
  }
  const { token, certificate, ...rest } = given.user ?? {}
  const pair = certificate && (await scene.certificate(certificate))
  if (given.caFile !== undefined) scene.write('ca.crt', scene.sandbox.caPem)
  return scene.config(
    {
      user: {
        ...rest,
        ...(given.exec !== false && { exec }),
        ...(token && { token: scene.token(token) }),
        ...(pair && {
          'client-certificate-data': Buffer.from(pair.certificate).toString('base64'),
          'client-key-data': Buffer.from(pair.key).toString('base64'),
        }),
      },
      cluster:
        given.caFile === undefined
          ? {}
          : {
              'certificate-authority': join(scene.folder, given.caFile),
              'certificate-authority-data': undefined,
            },
    },
    `config-${apiVersion.replaceAll('/', '-')}`,
  )
}

async function flagsOf({ flags = {} }: RequestCase, scene: Scene): Promise<readonly string[]> {
  const { token, certificate, ...rest } = flags
  const pair = certificate && (await scene.certificate(certificate))
  return [
    ...Object.entries(rest).map(([name, value]) => `--${name}=${value}`),
    ...(token ? ['--token', scene.token(token)] : []),
    ...(pair
      ? [
          ...['--client-certificate', scene.write('flag.crt', pair.certificate)],
          ...['--client-key', scene.write('flag.key', pair.key)],
        ]
      : []),
  ]
}
