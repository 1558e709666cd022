import { expect, it } from 'vitest'
import type { ExecConfig } from '../../src/kubeconfig/exec-config.ts'
import { Secret } from '../../src/secret/secret.ts'
import { execSecrets, showArgs } from '../../src/sources/exec-source.ts'

const stanza = (args: readonly string[], env: Record<string, string> = {}): ExecConfig => ({
  apiVersion: 'client.authentication.k8s.io/v1',
  command: 'plugin',
  args: args.map((arg) => new Secret(arg)),
  env: Object.entries(env).map(([name, value]) => ({ name, value: new Secret(value) })),
  provideClusterInfo: false,
  interactiveMode: 'Never',
})

it.each<[string, readonly string[], string, readonly string[]]>([
  ['subcommands', ['eks', 'get-token'], 'eks get-token', []],
  ['a value in a flag', ['--client-secret=s3cr3t'], '--client-secret=…', ['s3cr3t']],
  ['a value after a flag', ['--client-secret', 's3cr3t'], '--client-secret …', ['s3cr3t']],
  ['a word after a flag', ['--password', 'swordfish'], '--password …', ['swordfish']],
  ['an equals sign in a value', ['--extra=a=b'], '--extra=…', ['a=b']],
  ['a value with a dash', ['--password', '-S3cr3t'], '--password …', ['-S3cr3t']],
  ['a value with two dashes', ['--password', '--S3cr3t'], '--password …', ['--S3cr3t']],
  ['two flags', ['--debug', '--token', 'abc'], '--debug --token …', ['abc']],
  ['a short flag with its value', ['-pS3cr3t'], '-p…', ['S3cr3t']],
  ['flags with one dash', ['-region', 'eu', '-v'], '-region … -v', ['eu']],
  [
    'arguments that are not plain words',
    ['https://u:p@host', 'a1'],
    '… …',
    ['https://u:p@host', 'a1'],
  ],
  ['nothing', [], '', []],
])('hides values and shows names: %s', (_, args, shown, secrets) => {
  expect(showArgs(stanza(args))).toBe(shown)
  expect(execSecrets(stanza(args)).map((secret) => secret.expose())).toEqual(secrets)
})

it('treats the value of every variable as a secret', () => {
  const secrets = execSecrets(stanza([], { AWS_PROFILE: 'prod', KEY: 'k' }))
  expect(secrets.map((secret) => secret.expose())).toEqual(['prod', 'k'])
})
