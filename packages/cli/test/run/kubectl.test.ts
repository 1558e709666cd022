import { readFileSync } from 'node:fs'
import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { PROGRAM } from '../spawn-program.ts'
import { ended, Home, hasKubectl, NEEDS_KUBECTL } from './home.ts'

let sandbox: Sandbox
let home: Home
let kubeconfig: string

beforeEach(async () => {
  sandbox = await startSandbox()
  home = new Home()
  const plugin = await sandbox.plugin({ user: 'jane', lifetimeMs: 3_600_000 })
  kubeconfig = sandbox.writeKubeconfig({ user: { exec: plugin }, namespace: 'default' })
})
afterEach(async () => {
  await home[Symbol.asyncDispose]()
  await sandbox.close()
})

const withKubeconfig = (...args: string[]): string[] => ['run', '--kubeconfig', kubeconfig, ...args]
const PATH = '/api/v1/namespaces'
const users = (): Set<unknown> => new Set(sandbox.requests.map(({ user }) => user))

describe.skipIf(!hasKubectl)(`kubectl in kubecred run (${NEEDS_KUBECTL})`, () => {
  it('gets, with one run of the plugin', async () => {
    const command = ['kubectl', 'get', 'namespaces', '-o', 'name']
    const { status, out, err } = await home.run(withKubeconfig('--', ...command))
    expect({ status, err }).toEqual({ status: 0, err: '' })
    expect(out).toContain('namespace/default\n')
    expect(sandbox.pluginRuns).toBe(1)
    expect(users()).toEqual(new Set(['jane']))
    expect(home.leftovers()).toEqual([])
  })

  it('applies standard input, and changes it', async () => {
    const apply = async (colour: string) => {
      const running = home.start(
        withKubeconfig('--', 'kubectl', 'apply', '--validate=false', '-f', '-'),
      )
      const data = { colour }
      const head = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'paint' } }
      running.child.stdin?.write(JSON.stringify({ ...head, data }))
      return ended(running)
    }
    expect(await apply('blue')).toMatchObject({ status: 0, out: 'configmap/paint created\n' })
    expect(await apply('red')).toMatchObject({ status: 0, out: 'configmap/paint configured\n' })
    const get = ['kubectl', 'get', 'configmap', 'paint', '-o', 'jsonpath={.data.colour}']
    expect(await home.run(withKubeconfig(...get))).toMatchObject({ status: 0, out: 'red' })
  })

  it('watches, also after the token was revoked and replaced', async () => {
    const watch = home.start(
      withKubeconfig('--', 'kubectl', 'get', 'namespaces', '-o', 'name', '--watch'),
    )
    await watch.until('out', /namespace\/default/)
    sandbox.revoke('jane')
    const create = home.start(withKubeconfig('--', 'kubectl', 'create', '--raw', PATH, '-f', '-'))
    create.child.stdin?.write('{"metadata":{"name":"while-watched"}}')
    expect(await ended(create)).toMatchObject({ status: 0 })
    await watch.until('out', /namespace\/while-watched/)
    watch.child.kill('SIGTERM')
    // Its exit status is up to kubectl.
    await ended(watch)
    expect(home.leftovers()).toEqual([])
  })

  it('recovers in the middle of a script when the server refuses the token', async () => {
    const running = home.start(
      withKubeconfig('--', 'sh', '-c', 'echo ready; read go; exec kubectl get namespaces -o name'),
    )
    // Logged in by now, with a token that will be revoked.
    await running.until('out', /ready/)
    sandbox.revoke('jane')
    running.child.stdin?.write('go\n')
    expect(await ended(running)).toMatchObject({ status: 0, err: '' })
    expect(sandbox.pluginRuns).toBe(2)
  })

  it('execs into a pod with standard input, and reads its log', async () => {
    const pod = '{"metadata":{"name":"web"},"spec":{"containers":[{"name":"c","image":"i"}]}}'
    const script = `echo '${pod}' | kubectl create --raw ${PATH}/default/pods -f - >/dev/null
      echo typed | kubectl exec -i web -- cat
      kubectl exec web -- whoami
      kubectl logs web | head -1`
    const { out, status } = await home.run(withKubeconfig('--', 'sh', '-c', script))
    expect({ out, status }).toEqual({ out: 'typed\njaneline 1\n', status: 0 })
  })

  it('shows names, namespace and user of the context, and keeps changes local', async () => {
    const script = `kubectl config current-context
      kubectl config set-context --current --namespace=other >/dev/null
      kubectl config view --minify -o 'jsonpath={..namespace} {..name}'`
    const { out, status } = await home.run(withKubeconfig('--', 'sh', '-c', script))
    expect(status).toBe(0)
    expect(out).toBe('sandbox\nother sandbox sandbox sandbox')
    expect(readFileSync(kubeconfig, 'utf8')).not.toContain('other')
  })

  it('impersonates with its own flag', async () => {
    const { token } = sandbox.issueToken({ user: 'admin', groups: ['system:masters'] })
    kubeconfig = sandbox.writeKubeconfig({ user: { token } })
    const command = ['kubectl', 'get', 'namespaces', '--as', 'kim']
    expect(await home.run(withKubeconfig('--', ...command))).toMatchObject({ status: 0, err: '' })
    expect(users()).toEqual(new Set(['kim']))
  })

  it('shows the reason and the remedy if there is no credential any more', async () => {
    const script = 'read go; exec kubectl get namespaces'
    const broken = home.write(
      'broken',
      `#!/bin/sh
[ -e "${home.folder}/used" ] && { echo 'please log in with corp login' >&2; exit 3; }
touch "${home.folder}/used"
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"unknown-token"}}'
`,
      0o700,
    )
    kubeconfig = sandbox.writeKubeconfig({ user: { exec: { command: broken } } })
    const running = home.start(withKubeconfig('--', 'sh', '-c', script))
    running.child.stdin?.write('go\n')
    const { status, err } = await ended(running)
    expect(status).toBe(1)
    expect(err).toContain('please log in with corp login')
  })

  it('is rejected as the plugin of a kubeconfig: it would bypass the policy', async () => {
    const exec = {
      command: process.execPath,
      args: [PROGRAM, 'run', '--', 'touch', home.path('x')],
    }
    const path = sandbox.writeKubeconfig({ user: { exec } })
    const { status, err } = await home.run(['run', '--kubeconfig', path, '--', 'true'])
    expect(status).not.toBe(0)
    expect(err).toContain('run cannot run as a credential plugin')
  })
})
