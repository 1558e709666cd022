import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PolicyInvalidError } from '../../src/errors/index.ts'
import { loadPluginPolicy, type PolicyLookup } from '../../src/node/load-plugin-policy.ts'

let home = ''
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'kubecred-kuberc-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const HEAD = 'apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n'
const DENY = `${HEAD}credentialPluginPolicy: DenyAll\n`

function write(name: string, content = DENY, mode = 0o600): string {
  const path = join(home, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  chmodSync(path, mode)
  return path
}

const load = (place: Partial<PolicyLookup> = {}) => loadPluginPolicy({ env: {}, home, ...place })

async function refusal(place?: Partial<PolicyLookup>): Promise<PolicyInvalidError> {
  const outcome: unknown = await load(place).catch((reason: unknown) => reason)
  if (outcome instanceof PolicyInvalidError) return outcome
  throw new Error('it was not refused', { cause: outcome })
}

describe('the policy comes', () => {
  it('from the file of the option', async () => {
    const kuberc = write('named')
    const env = { KUBERC: write('env', HEAD) }
    write('.kube/kuberc', HEAD)
    expect(await load({ kuberc, env })).toEqual({ type: 'DenyAll', origin: kuberc })
  })

  it('from KUBERC otherwise, even if KUBECTL_KUBERC is false', async () => {
    const env = { KUBERC: write('env'), KUBECTL_KUBERC: 'false' }
    write('.kube/kuberc', HEAD)
    expect(await load({ env })).toEqual({ type: 'DenyAll', origin: env.KUBERC })
  })

  it.each([{}, { KUBERC: '' }])('from the home folder otherwise: %o', async (env) => {
    const origin = write('.kube/kuberc')
    expect(await load({ env })).toEqual({ type: 'DenyAll', origin })
  })

  it.each([{ KUBERC: 'off' }, { KUBECTL_KUBERC: 'false' }])('from nowhere with %o', async (env) => {
    write('.kube/kuberc')
    expect(await load({ env })).toEqual({ type: 'AllowAll' })
  })

  it('from nowhere if the file in the home folder does not exist', async () => {
    expect(await load()).toEqual({ type: 'AllowAll' })
  })

  it('through a symbolic link', async () => {
    const kuberc = join(home, 'link')
    symlinkSync(write('real'), kuberc)
    expect(await load({ kuberc })).toMatchObject({ type: 'DenyAll' })
  })
})

describe('no plugin may run', () => {
  it('if a file is given although KUBERC is off', async () => {
    const error = await refusal({ kuberc: write('named'), env: { KUBERC: 'off' } })
    expect(error.message).toContain('KUBERC=off')
  })

  it.each([
    ['kuberc', () => ({ kuberc: '/nowhere/kuberc' })],
    ['KUBERC', () => ({ env: { KUBERC: '/nowhere/kuberc' } })],
  ])('if the file of %s does not exist', async (_, place) => {
    expect((await refusal(place())).message).toContain(
      '"/nowhere/kuberc" cannot be used: it does not exist',
    )
  })

  it('if the file in the home folder is a dangling link', async () => {
    mkdirSync(join(home, '.kube'))
    symlinkSync('/nowhere/kuberc', join(home, '.kube/kuberc'))
    await refusal()
  })

  it.each([0o666, 0o660, 0o602, 0o620])('if the file is writable by others: %o', async (mode) => {
    const path = write('.kube/kuberc', DENY, mode)
    const error = await refusal()
    expect(error.message).toBe(
      `plugin policy ${JSON.stringify(path)} cannot be used: it is writable by other users`,
    )
    expect(error.hint).toMatch(/chmod 600 .*\.$/)
  })

  it('but a file that others can only read is used', async () => {
    write('.kube/kuberc', DENY, 0o644)
    expect(await load()).toMatchObject({ type: 'DenyAll' })
  })

  it('if the target of a link is writable by others', async () => {
    mkdirSync(join(home, '.kube'))
    symlinkSync(write('real', DENY, 0o666), join(home, '.kube/kuberc'))
    await refusal()
  })

  it.runIf(process.getuid?.() === 0)('if the file belongs to another user', async () => {
    chownSync(write('.kube/kuberc'), 12_345, 12_345)
    expect((await refusal()).message).toContain('it belongs to another user')
  })

  it.each([
    ['is not YAML', 'kind: [', /cannot be used/],
    ['is of another kind', 'kind: Config\napiVersion: v1\n', /its kind is not Preference/],
    [
      'is of another version',
      'kind: Preference\napiVersion: kubectl.config.k8s.io/v9\n',
      /apiVersion is none of/,
    ],
    ['is a list', '[]', /contains a list/],
    ['has a number for a policy', `${HEAD}credentialPluginPolicy: 1\n`, /a number, not a string/],
    [
      'has an unknown policy',
      `${HEAD}credentialPluginPolicy: denyall\n`,
      /unknown policy "denyall"/,
    ],
    [
      'has text for a list',
      `${HEAD}credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: a\n`,
      /not a list/,
    ],
  ])('if the file in the home folder %s', async (_, content, message) => {
    const path = write('.kube/kuberc', content)
    const error = await refusal()
    expect(error.message).toMatch(message)
    expect(error.message).toContain(JSON.stringify(path))
    expect(error.hint).toMatch(/^[A-Z].*\.$/)
  })

  it('if it is a folder, too large, or a pipe without a writer', async () => {
    mkdirSync(join(home, 'folder'))
    expect((await refusal({ kuberc: join(home, 'folder') })).message).toMatch(/not a regular file/)
    const large = write('large', `${DENY}#${'x'.repeat(1024 * 1024)}`)
    expect((await refusal({ kuberc: large })).message).toMatch(/more than \d+ bytes/)
    if (process.platform === 'win32') return
    execFileSync('mkfifo', ['-m', '600', join(home, 'pipe')])
    expect((await refusal({ kuberc: join(home, 'pipe') })).message).toMatch(/not a regular file/)
  })
})
