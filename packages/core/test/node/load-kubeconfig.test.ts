import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { devNull, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isCredentialError } from '../../src/errors/credential-error.ts'
import { loadConnection } from '../../src/node/load-kubeconfig.ts'

const unixIt = it.skipIf(process.platform === 'win32')

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubecred-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

/** A kubeconfig whose one context, cluster and user are called `name`. */
function kubeconfig(name: string, user = '{token: t}'): string {
  return `
clusters: [{name: ${name}, cluster: {server: 'https://${name}'}}]
users: [{name: ${name}, user: ${user}}]
contexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}}}]
current-context: ${name}
`
}

async function failure(loading: Promise<unknown>) {
  const error = await loading.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isCredentialError(error)) throw new Error('no error of ours', { cause: error })
  return error
}

describe('a kubeconfig is read', () => {
  it('from explicit files only, which are merged', async () => {
    const [a, b] = [write('a', kubeconfig('a')), write('b', kubeconfig('b'))]
    write('.kube/config', kubeconfig('home'))
    const env = { KUBECONFIG: write('env', kubeconfig('env')) }
    const options = { env, home: folder, cwd: folder }
    const one = await loadConnection({ ...options, kubeconfig: b })
    expect([one.context, one.origin]).toEqual(['b', b])
    const overrides = { user: 'b' }
    const two = await loadConnection({ ...options, kubeconfig: ['a', b], overrides })
    expect([two.context, two.user.name, two.origin]).toEqual(['a', 'b', `${a}, ${b}`])
  })

  it('from KUBECONFIG otherwise; missing files are skipped and the first takes precedence', async () => {
    write('.kube/config', kubeconfig('home'))
    const [a, b] = [write('a', kubeconfig('a')), write('b', kubeconfig('b'))]
    const env = { KUBECONFIG: `:/missing:${a}:${b}:${a}:` }
    const made = await loadConnection({ env, home: folder })
    expect([made.context, made.origin, made.warnings]).toEqual(['a', `${a}, ${b}`, []])
  })

  it('from the home folder otherwise', async () => {
    write('.kube/config', kubeconfig('home'))
    const { context } = await loadConnection({ env: { HOME: folder, KUBECONFIG: '' } })
    expect(context).toBe('home')
  })

  it('but not from the home folder if KUBECONFIG has only separators', async () => {
    write('.kube/config', kubeconfig('home'))
    const error = await failure(loadConnection({ env: { HOME: folder, KUBECONFIG: '::' } }))
    expect(error.code).toBe('ERR_KUBECONFIG_EMPTY')
  })

  it('but not from the current folder if there is no home', async () => {
    write('.kube/config', kubeconfig('trap'))
    const error = await failure(loadConnection({ env: {}, cwd: folder }))
    expect(error.code).toBe('ERR_KUBECONFIG_EMPTY')
  })

  it('through a symbolic link, to which relative paths refer', async () => {
    write('real/config', kubeconfig('a', '{tokenFile: token}'))
    symlinkSync(join(folder, 'real/config'), join(folder, 'link'))
    const { user } = await loadConnection({ env: {}, kubeconfig: 'link', cwd: folder })
    expect(user.tokenFile).toBe(join(folder, 'token'))
  })

  it('and KUBECONFIG with only missing files is reported, in a warning and in the error', async () => {
    const env = { KUBECONFIG: '/missing/a:/missing/b' }
    const allMissing = 'KUBECONFIG names only files that do not exist: /missing/a, /missing/b'
    const made = await loadConnection({ env, overrides: { server: 'https://s' } })
    expect(made.warnings).toEqual([`${allMissing}.`])
    expect((await failure(loadConnection({ env }))).message).toContain(allMissing)
  })

  it('and a missing file in the home folder is reported in the error, not in a warning', async () => {
    const env = { HOME: folder }
    expect((await failure(loadConnection({ env }))).message).toContain(join('.kube', 'config'))
    const made = await loadConnection({ env, overrides: { server: 'https://s' } })
    expect(made.warnings).toEqual([])
  })
})

describe('a file that cannot be used', () => {
  it('is an error if it is explicit and missing', async () => {
    const error = await failure(loadConnection({ env: {}, kubeconfig: '/missing/config' }))
    expect(error.code).toBe('ERR_KUBECONFIG_NOT_FOUND')
    expect(error.message).toContain('/missing/config')
  })

  it.each([
    { code: 'EACCES', says: 'permission denied' },
    { code: 'EISDIR', says: 'it is a folder' },
    { code: 'ENOTDIR', says: 'is a file, not a folder' },
    { code: 'EWEIRD', says: 'unexpected error EWEIRD' },
  ])('is reported with the reason: $code', async ({ code, says }) => {
    const readFile = () => Promise.reject(Object.assign(new Error('x'), { code }))
    const error = await failure(loadConnection({ env: { KUBECONFIG: '/f' }, readFile }))
    expect(error.code).toBe('ERR_KUBECONFIG_UNREADABLE')
    expect(error.message).toContain(says)
  })

  it('is reported if it is a folder', async () => {
    const error = await failure(loadConnection({ env: { KUBECONFIG: folder } }))
    expect(error.message).toContain('it is a folder')
  })

  it('is reported if its parent is a file', async () => {
    const path = join(write('f', ''), 'config')
    const error = await failure(loadConnection({ env: { KUBECONFIG: path } }))
    expect(error.code).toBe('ERR_KUBECONFIG_UNREADABLE')
  })

  unixIt('is reported if it is a named pipe, which is not waited for', async () => {
    const path = join(folder, 'pipe')
    execFileSync('sh', ['-c', 'mkfifo "$0"', path])
    const loading = [{ KUBECONFIG: path }, {}].map((env) =>
      failure(loadConnection({ env, ...('KUBECONFIG' in env ? {} : { kubeconfig: path }) })),
    )
    for (const error of await Promise.all(loading)) {
      expect(error.message).toContain('it is not a regular file')
    }
  })

  it('is reported if it is too large', async () => {
    const path = write('big', new Uint8Array(64 * 1024 * 1024 + 1).fill(0x20))
    const error = await failure(loadConnection({ env: {}, kubeconfig: path }))
    expect(error.code).toBe('ERR_KUBECONFIG_UNREADABLE')
    expect(error.message).toContain('64 MiB')
  })

  it.each([
    { name: 'Latin-1', bytes: Buffer.from('users: [{name: j\xf6rg}]', 'latin1'), says: 'UTF-8' },
    { name: 'binary', bytes: Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1]), says: 'binary' },
  ])('is reported if it is $name', async ({ bytes, says }) => {
    const error = await failure(loadConnection({ env: {}, kubeconfig: write('f', bytes) }))
    expect(error.code).toBe('ERR_KUBECONFIG_SYNTAX')
    expect(error.message).toContain(says)
  })

  it('does not hide errors in other files', async () => {
    const [a, b] = [write('a', 'users: 1'), write('b', '{')]
    const good = write('good', kubeconfig('good'))
    const error = await failure(loadConnection({ env: { KUBECONFIG: `${a}:${good}:${b}` } }))
    expect(error.code).toBe('ERR_KUBECONFIG_INVALID')
    expect(error.message).toContain(a)
    expect(error.message).toContain(b)
    expect(error.cause).toBeInstanceOf(AggregateError)
    const single = await failure(loadConnection({ env: { KUBECONFIG: `${a}:${good}` } }))
    expect(single.code).toBe('ERR_KUBECONFIG_SYNTAX')
  })
})

describe('a file may', () => {
  it.each([
    { name: 'start with a byte order mark', bytes: Buffer.from(`\ufeff${kubeconfig('a')}`) },
    {
      name: 'be UTF-16 from PowerShell',
      bytes: Buffer.from(`\ufeff${kubeconfig('a')}`, 'utf16le'),
    },
    {
      name: 'have Windows line endings',
      bytes: Buffer.from(kubeconfig('a').replace(/\n/g, '\r\n')),
    },
    { name: 'be JSON', bytes: Buffer.from(JSON.stringify({ 'current-context': '' })), empty: true },
    { name: 'be empty', bytes: Buffer.from(''), empty: true },
  ])('$name', async ({ bytes, empty }) => {
    const overrides = empty === true ? { server: 'https://s' } : {}
    const made = await loadConnection({ env: {}, kubeconfig: write('f', bytes), overrides })
    expect(made.context).toBe(empty === true ? undefined : 'a')
  })

  unixIt('be a file descriptor, if it is explicit', async () => {
    const descriptor = openSync(write('f', kubeconfig('a')), 'r')
    const made = await loadConnection({ env: {}, kubeconfig: `/dev/fd/${descriptor}` })
    closeSync(descriptor)
    expect(made.context).toBe('a')
  })
})

it('the null device is an empty kubeconfig', async () => {
  write('.kube/config', kubeconfig('home'))
  for (const options of [{ env: { KUBECONFIG: devNull } }, { env: {}, kubeconfig: devNull }]) {
    const error = await failure(loadConnection({ home: folder, ...options }))
    expect(error.code).toBe('ERR_KUBECONFIG_EMPTY')
  }
})

unixIt('any other device is rejected', async () => {
  const error = await failure(loadConnection({ env: { KUBECONFIG: '/dev/zero' } }))
  expect(error.message).toContain('it is not a regular file')
})

describe('in a pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' }
  const options = () => ({ env, home: folder, serviceAccountFolder: join(folder, 'sa') })
  const mount = () => {
    write('sa/token', 'token')
    write('sa/ca.crt', '-----BEGIN CERTIFICATE-----')
    write('sa/namespace', 'pod-ns')
  }

  it('the service account is used if there is no kubeconfig', async () => {
    mount()
    const made = await loadConnection(options())
    expect(made).toMatchObject({ origin: 'in-cluster', namespace: 'pod-ns', warnings: [] })
    expect(made.cluster.server).toBe('https://[fd00::1]')
    expect(made.user).toEqual({ tokenFile: join(folder, 'sa', 'token') })
  })

  it('the service account is used if a kubeconfig has no current context', async () => {
    mount()
    write('.kube/config', 'clusters: [{name: a}]\ncontexts: [{name: a}]')
    expect((await loadConnection(options())).origin).toBe('in-cluster')
  })

  it.each([
    { name: 'a kubeconfig', content: kubeconfig('a'), context: 'a' },
    { name: 'a broken kubeconfig', content: 'users: 1', code: 'ERR_KUBECONFIG_SYNTAX' },
    { name: 'a wrong context', content: 'current-context: x', code: 'ERR_CONTEXT_NOT_FOUND' },
    {
      name: 'a missing cluster',
      content: 'contexts: [{name: c, context: {cluster: x}}]\ncurrent-context: c',
      code: 'ERR_CLUSTER_NOT_FOUND',
    },
  ])('$name takes precedence over the service account', async ({ content, context, code }) => {
    mount()
    write('.kube/config', content)
    const made = await loadConnection(options()).catch((error: unknown) => error)
    expect(made).toMatchObject(code === undefined ? { context } : { code })
  })

  it('the namespace of the pod is the default for a kubeconfig without one', async () => {
    mount()
    write('.kube/config', kubeconfig('a'))
    expect((await loadConnection(options())).namespace).toBe('pod-ns')
  })

  it('--server selects that server, without the credentials of the pod', async () => {
    mount()
    const made = await loadConnection({ ...options(), overrides: { server: 'https://s' } })
    expect([made.origin, made.user]).toEqual(['flags', {}])
  })

  it('--token replaces the token file', async () => {
    mount()
    const { user } = await loadConnection({ ...options(), overrides: { token: 't' } })
    expect(Object.keys(user)).toEqual(['token'])
  })

  it('no service account is used if the token is missing or a folder', async () => {
    const error = await failure(loadConnection(options()))
    expect(error.code).toBe('ERR_KUBECONFIG_EMPTY')
    expect(error.message).toContain(`no service account is mounted at ${join(folder, 'sa')}`)
    mkdirSync(join(folder, 'sa', 'token'), { recursive: true })
    expect((await failure(loadConnection(options()))).code).toBe('ERR_KUBECONFIG_EMPTY')
  })

  it('a missing CA is a warning', async () => {
    write('sa/token', 'token')
    const made = await loadConnection(options())
    expect(made.warnings).toEqual([expect.stringContaining('ca.crt')])
  })
})
