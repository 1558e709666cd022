import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { TestCluster } from './harness/test-cluster.ts'
import {
  hasDebian,
  type Kubectl,
  NEEDS_DEBIAN,
  newest,
  newestWithSpdy,
  old,
} from './run/kubectls.ts'
import { RunScene } from './run/run-scene.ts'
import { CONNECTIONS, REQUESTS, type Verb } from './run/verbs.ts'

const cluster = new TestCluster(inject('cluster'))
const { programs } = cluster.facts
let scene: RunScene

beforeAll(async () => {
  scene = await RunScene.open(cluster)
})
afterAll(async () => {
  await scene[Symbol.asyncDispose]()
})

const everything = Object.entries({ ...REQUESTS, ...CONNECTIONS })
const some = everything.filter(([name]) => ['get', 'exec -i', 'port-forward'].includes(name))
const someConnections = some.filter(([name]) => name in CONNECTIONS)

/** Runs a verb as a new user with a token or certificate. */
async function show(kubectl: Kubectl, name: string, verb: Verb, kind: 'token' | 'certificate') {
  const user = cluster.unique(kind)
  const credential =
    kind === 'token'
      ? { token: cluster.token({ user }).token }
      : await cluster.certificate({ user })
  await verb(scene, { kubectl, kubeconfig: scene.kubeconfig(credential) })
  if (CONNECTIONS[name] === undefined) return
  const { verbs, codes } = scene.noted(SUBRESOURCES[name] ?? 'exec', user)
  expect({ verbs, codes }).toEqual({ verbs: new Set([kubectl.verb]), codes: new Set([101]) })
}

const SUBRESOURCES: Readonly<Record<string, string>> = {
  attach: 'attach',
  'port-forward': 'portforward',
}

describe('the newest kubectl in kubecred run, with a token', () => {
  it.concurrent.each(everything)('%s', (name, verb) => show(newest(programs), name, verb, 'token'))
})

describe('the newest kubectl in kubecred run, with a token, over SPDY', () => {
  it.concurrent.each(someConnections)('%s', (name, verb) =>
    show(newestWithSpdy(programs), name, verb, 'token'),
  )
})

describe('the newest kubectl in kubecred run, with a certificate', () => {
  it.concurrent.each(some)('%s', (name, verb) => show(newest(programs), name, verb, 'certificate'))
})

describe.skipIf(!hasDebian)(
  `an old kubectl in kubecred run, with a certificate (${NEEDS_DEBIAN})`,
  () => {
    it.concurrent.each(everything)('%s', (name, verb) => show(old(), name, verb, 'certificate'))
  },
)

it('kubecred run leaves nothing behind', () => {
  expect(scene.home.leftovers()).toEqual([])
})
