import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { KubeconfigExec } from '@kubecred/sandbox'
import { AWS_SECRET } from './aws-token.ts'
import { AWS_CLUSTER } from './aws-webhook.ts'
import type { PluginName } from './find-plugin.ts'
import { ForeignPlugin } from './foreign-plugin.ts'
import type { ForeignStage } from './foreign-stage.ts'
import { ACCOUNT, CLIENT } from './login-issuer.ts'

/** A user with an own home and a third-party plugin in the kubeconfig. */
export interface ForeignUser {
  readonly plugin: ForeignPlugin
  /** The exec stanza from the plugin's documentation. */
  readonly exec: KubeconfigExec
  /** The environment of the user. */
  readonly env: Readonly<Record<string, string>>
  /** The user name on the API server. */
  readonly name: string
}

interface Making {
  readonly stage: ForeignStage
  /** The path of the unmodified plugin. */
  readonly program: string
  readonly home: string
}

const BROWSER = fileURLToPath(new URL('./browser.mjs', import.meta.url))

/** Creates a user of each plugin, who has not logged in yet. */
export const FOREIGN_USERS: Readonly<Record<PluginName, (making: Making) => ForeignUser>> = {
  kubelogin: (making) => oidcUser(making, CLIENT),
  'aws-iam-authenticator': (making) =>
    awsUser(making, 'aws-iam-authenticator', ['token', '-i', AWS_CLUSTER]),
  aws: (making) =>
    awsUser(making, 'aws', [
      ...['--region', REGION, 'eks', 'get-token'],
      ...['--cluster-name', AWS_CLUSTER, '--output', 'json'],
    ]),
}

const REGION = 'eu-west-1'

function awsUser({ home, program }: Making, name: string, args: readonly string[]): ForeignUser {
  const plugin = new ForeignPlugin(home, name, program)
  const folder = join(home, '.aws')
  mkdirSync(folder)
  writeFileSync(join(folder, 'config'), `[profile work]\nregion = ${REGION}\n`)
  // Different for each user, so that the server can distinguish them.
  const id = `AKIA${randomBytes(8).toString('hex').toUpperCase()}`
  const keys = `[work]\naws_access_key_id = ${id}\naws_secret_access_key = ${AWS_SECRET}\n`
  writeFileSync(join(folder, 'credentials'), keys, { mode: 0o600 })
  return {
    plugin,
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1beta1',
      command: plugin.command,
      args,
      env: { AWS_PROFILE: 'work' },
    },
    env: { ...shellOf(home), AWS_EC2_METADATA_DISABLED: 'true' },
    name: id,
  }
}

/** kubelogin is a kubectl plugin, so the command is kubectl. It uses our browser. */
export function oidcUser({ stage, home, program }: Making, client: string): ForeignUser {
  const { issuer, cluster } = stage
  const plugin = new ForeignPlugin(home, 'kubectl-oidc_login', program)
  const authority = join(home, 'issuer.pem')
  writeFileSync(authority, issuer.caPem)
  const browser = join(home, 'browser')
  const start = `NODE_EXTRA_CA_CERTS='${authority}' exec '${process.execPath}' '${BROWSER}' "$1"`
  writeFileSync(browser, `#!/bin/sh\n${start}\n`)
  chmodSync(browser, 0o755)
  const shell = shellOf(home)
  return {
    plugin,
    exec: {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: cluster.facts.programs.kubectl,
      args: [
        'oidc-login',
        'get-token',
        `--oidc-issuer-url=${issuer.url}`,
        `--oidc-client-id=${client}`,
        `--certificate-authority=${authority}`,
        '--listen-address=127.0.0.1:0',
        `--browser-command=${browser}`,
        '--authentication-timeout-sec=20',
      ],
      interactiveMode: 'Never',
    },
    env: { ...shell, PATH: `${plugin.bin}:${shell['PATH']}` },
    name: ACCOUNT,
  }
}

function shellOf(home: string): Record<string, string> {
  return { HOME: home, PATH: process.env['PATH'] ?? '' }
}
