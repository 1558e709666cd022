import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { accountFacts, accountFiles } from '../../src/agent/account-files.ts'

let home: string

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kubecred-account-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

describe('accountFiles', () => {
  it.each([
    ['aws', ['eks'], '.aws/credentials'],
    ['/usr/local/bin/aws-iam-authenticator', [], '.aws/config'],
    ['gke-gcloud-auth-plugin', [], '.config/gcloud/active_config'],
    ['kubelogin', ['get-token'], '.azure/azureProfile.json'],
    ['kubectl', ['oidc-login', 'get-token'], '.kube/cache/oidc-login'],
    ['oci', [], '.oci/config'],
    ['doctl', [], '.config/doctl/config.yaml'],
    ['/opt/tsh', [], '.tsh/current-profile'],
    ['pinniped', [], '.config/pinniped/sessions.yaml'],
  ])('knows %s %j', (command, args, file) => {
    expect(accountFiles(command, args, { HOME: '/h' })).toContain(`/h/${file}`)
  })

  it('uses the paths from environment variables', () => {
    const env = { HOME: '/h', AWS_CONFIG_FILE: '/c', XDG_CONFIG_HOME: '/x', CLOUDSDK_CONFIG: '/g' }
    expect(accountFiles('aws', [], env)).toContain('/c')
    expect(accountFiles('doctl', [], env)).toContain('/x/doctl/config.yaml')
    expect(accountFiles('gcloud', [], env)).toContain('/g/active_config')
  })

  it.each([['my-plugin'], ['kubectl'], ['constructor'], ['']])('does not know %j', (command) => {
    expect(accountFiles(command, [], { HOME: '/h' })).toBeUndefined()
  })
})

describe('accountFacts', () => {
  const facts = (named: string[] = []) => accountFacts('aws', [], { HOME: home }, named).files

  it('change when a file appears, changes, is replaced or removed, also in a folder', () => {
    const seen = new Set([facts().join('\n')])
    const look = (): void => void seen.add(facts().join('\n'))
    const cache = join(home, '.aws', 'sso', 'cache')
    mkdirSync(cache, { recursive: true })
    look()
    writeFileSync(join(cache, 'a.json'), '1')
    look()
    utimesSync(join(cache, 'a.json'), 1, 1)
    look()
    writeFileSync(join(home, '.aws', 'config'), 'one')
    look()
    utimesSync(join(home, '.aws', 'config'), 1, 1)
    look()
    rmSync(join(home, '.aws', 'config'))
    // A link counts as its target.
    symlinkSync(join(cache, 'a.json'), join(home, '.aws', 'config'))
    look()
    expect(seen.size).toBe(7)
  })

  it('include named files, which make any plugin a known one', () => {
    const named = join(home, 'account')
    const look = () => accountFacts('mine', [], {}, [named])
    const before = look()
    expect(before.isAccountKnown).toBe(true)
    expect(accountFacts('mine', [], {}, []).isAccountKnown).toBe(false)
    writeFileSync(named, 'x')
    expect(look().files).not.toEqual(before.files)
  })
})
