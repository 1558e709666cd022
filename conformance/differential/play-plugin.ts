import type { PluginCase } from '../run-plugin.ts'
import type { Command } from './command.ts'
import type { Scene } from './scene.ts'

/** Replaced by a token that the server accepts. */
const TOKEN = 'foo-bar'

/** One run of a plugin, with what it prints and where it runs. */
export async function playPlugin({ given }: PluginCase, scene: Scene): Promise<readonly Command[]> {
  const { version = 'v1beta1', interactiveMode, installHint, cluster, isTerminal, env } = given
  const apiVersion = `client.authentication.k8s.io/${version}`
  const { stdout = scene.answer(undefined, apiVersion), exitCode, command = 'plugin' } = given
  scene.plugin('plugin', {
    stdout: await fillIn(stdout, scene),
    ...(exitCode !== undefined && { exitCode }),
  })
  const exec = {
    apiVersion,
    command,
    interactiveMode: interactiveMode ?? 'IfAvailable',
    installHint,
    provideClusterInfo: cluster !== undefined,
  }
  const { config: extension, ...info } = cluster ?? { server: '' }
  scene.config({
    user: { exec },
    cluster: {
      ...(info.insecureSkipTlsVerify && {
        'insecure-skip-tls-verify': true,
        'certificate-authority-data': undefined,
      }),
      ...(info.disableCompression && { 'disable-compression': true }),
      ...(info.proxyUrl !== undefined && { 'proxy-url': `http://${scene.proxyHost}` }),
      ...(info.tlsServerName !== undefined && { 'tls-server-name': 'sandbox.kubecred.test' }),
      ...(extension !== undefined && {
        extensions: [{ name: 'client.authentication.k8s.io/exec', extension }],
      }),
    },
  })
  return [
    {
      ...(env && { env }),
      ...(isTerminal && { hasTerminal: true }),
      ...(installHint !== undefined && { mayShow: installHint }),
    },
  ]
}

async function fillIn(stdout: string | object, scene: Scene): Promise<string> {
  const text = typeof stdout === 'string' ? stdout : JSON.stringify(stdout)
  const { certificate, key } = await scene.certificate('jane')
  const { key: otherKey } = await scene.certificate('max')
  const inJson = (pem: string): string => JSON.stringify(pem).slice(1, -1)
  return text
    .replace('{{certificate}}', inJson(certificate))
    .replace('{{key}}', inJson(key))
    .replace('{{other key}}', inJson(otherKey))
    .replaceAll(TOKEN, scene.token('jane'))
}
