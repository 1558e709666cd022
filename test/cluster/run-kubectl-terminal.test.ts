import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { hasScript, NEEDS_SCRIPT } from '../../packages/core/test/fixtures/running-program.ts'
import { hasSoftHsm, NEEDS, PIN, SoftHsm } from '../../packages/pkcs11/test/soft-token.ts'
import { TestCluster } from './harness/test-cluster.ts'
import { makeHsmUser } from './run/hsm-user.ts'
import { hasDebian, newest, newestWithSpdy, old } from './run/kubectls.ts'
import { RunScene } from './run/run-scene.ts'
import { SHELL_IN_POD, useShell } from './run/shell-in-pod.ts'

const cluster = new TestCluster(inject('cluster'))
const { programs } = cluster.facts
let scene: RunScene

beforeAll(async () => {
  scene = await RunScene.open(cluster)
})
afterAll(async () => {
  await scene[Symbol.asyncDispose]()
})

const kubectls = [newest(programs), newestWithSpdy(programs), ...(hasDebian ? [old()] : [])]

describe.skipIf(!hasScript)(`kubecred run, at a terminal (${NEEDS_SCRIPT})`, () => {
  it.concurrent.each(kubectls)('gives $name a shell in a pod', async (kubectl) => {
    const user = cluster.unique('token')
    const kubeconfig = scene.kubeconfig({ token: cluster.token({ user }).token })
    await useShell(scene.atTerminal({ kubectl, kubeconfig }, SHELL_IN_POD))
    expect(scene.noted('exec', user).verbs).toEqual(new Set([kubectl.verb]))
  })
})

describe.skipIf(!hasScript || !hasSoftHsm)(
  `kubecred run, with a key that stays in its token (${NEEDS}; ${NEEDS_SCRIPT})`,
  () => {
    const hsm = hasSoftHsm ? new SoftHsm() : undefined
    afterAll(() => hsm?.[Symbol.dispose]())
    const kubectl = newest(programs)

    async function open(line: string) {
      if (hsm === undefined) throw new Error(NEEDS)
      const { user, kubeconfig, env } = await makeHsmUser(hsm, cluster, scene.namespace)
      const running = scene.atTerminal({ kubectl, kubeconfig, env }, line)
      await running.until('out', /PIN of token "[^"]+" \(serial \w+, slot \d+\): /)
      running.child.stdin?.write(`${PIN}\r`)
      return { user, running, hsm }
    }

    it('lists pods after its PIN was typed', async () => {
      const { user, running } = await open('kubectl get pods')
      expect(await running.end()).toBe(0)
      expect(running.out).toMatch(/^web +1\/1 +Running/m)
      expect(running.out).not.toContain(PIN)
      const names = cluster
        .seen(`/namespaces/${scene.namespace}/pods?`)
        .map(({ user: by }) => by.username)
      expect(names).toContain(user)
    })

    it('gives a shell in a pod, after its PIN was typed once', async () => {
      const { user, running, hsm: used } = await open(SHELL_IN_POD)
      await useShell(running)
      expect(running.out.match(/PIN of token/g)).toHaveLength(1)
      expect(running.out).not.toContain(PIN)
      expect(used.callsOf('C_Login')).toBe(1)
      const { verbs, codes } = scene.noted('exec', user)
      expect({ verbs, codes }).toEqual({ verbs: new Set(['get']), codes: new Set([101]) })
    })

    it('has no token to print, and kubecred token suggests kubecred run', async () => {
      if (hsm === undefined) return
      const { kubeconfig, env } = await makeHsmUser(hsm, cluster, scene.namespace)
      const { status, out, err } = await scene.home.run(['token', '--kubeconfig', kubeconfig], env)
      expect({ status, out }).toEqual({ status: 19, out: '' })
      expect(err).toContain('kubecred run -- kubectl get pods')
    })
  },
)

it('kubecred run leaves nothing behind', () => {
  expect(scene.home.leftovers()).toEqual([])
})
