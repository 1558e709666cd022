import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KubeconfigUser } from '../../../packages/sandbox/src/index.ts'
import type { Answer } from '../../request-credentials.ts'
import type { RequestCase } from '../../run-request.ts'
import type { Play } from './play.ts'
import type { Opening, Script } from './script.ts'

type Step = RequestCase['steps'][number]

/** The clock of another process cannot be moved, so credentials expire soon, and real time passes. */
const SOON_MS = 2500
const LATER_MS = 3200
const WATCH = '/api/v1/namespaces?watch=true'

/** A `request` case, in its newest version. */
export function fromRequest(id: string, given: RequestCase): Script {
  return {
    id,
    about: given.rule,
    ...(given.server && { server: given.server }),
    play: (play) => playRequests(given, play),
  }
}

async function playRequests(given: RequestCase, play: Play): Promise<void> {
  const opening = await openingOf(given, play)
  if ((await play.client.open(opening)) === 'refused') {
    play.note({ opened: 'refused' })
    return
  }
  const passes = given.steps.some(({ passMs }) => passMs !== undefined)
  let isTimed = false
  for (const [index, step] of given.steps.entries()) {
    for (const name of step.revoke ?? []) play.credentials.revoke(name)
    if (step.plugin !== undefined) await play.answer(passes ? hurried(step) : step.plugin)
    if (step.passMs !== undefined) await play.wait(LATER_MS)
    isTimed ||= step.passMs !== undefined || (passes && (step.plugin?.expiresInMs ?? 0) > 0)
    await playStep(step, `object-${index}`, play, isTimed)
  }
}

/** Returns plugin output that expires soon after its step, if it expires at all. */
function hurried({ plugin = {}, passMs }: Step): Answer {
  const { expiresInMs = 0 } = plugin
  if (expiresInMs <= 0) return plugin
  return { ...plugin, expiresInMs: SOON_MS + (passMs === undefined ? 0 : LATER_MS) }
}

async function playStep(step: Step, name: string, play: Play, isTimed: boolean): Promise<void> {
  if (step.watch) {
    play.note({ watch: await play.client.watch(WATCH), user: play.sandbox.requests.at(-1)?.user })
    return
  }
  const body = step.create && JSON.stringify({ metadata: { name } })
  const headers = { ...step.headers, ...(body && { 'content-type': 'application/json' }) }
  await play.send({
    headers,
    ...(step.send !== undefined && { times: step.send }),
    ...(body && { method: 'POST', body }),
  })
  // kubecred runs plugins ahead of time, as the page says, so the number of runs depends on timing.
  if (isTimed) play.forget('runs', 'connections')
  if (body) play.note({ watchesSee: await play.client.see(name) })
}

async function openingOf(given: RequestCase, play: Play): Promise<Opening> {
  const { sandbox, credentials } = play
  const { token, certificate, ...rest } = given.user ?? {}
  const pair = certificate && (await credentials.certificate(certificate))
  const user: KubeconfigUser = {
    ...rest,
    ...(token && { token: credentials.token(token) }),
    ...(pair && { certificate: pair.certificate, key: pair.key }),
    ...(given.exec !== false && { exec: await execOf(given, play) }),
  }
  const kubeconfig = sandbox.writeKubeconfig({ user })
  if (given.caFile !== undefined) nameCaFile(kubeconfig, given.caFile, play)
  return {
    kubeconfig,
    ...(given.connections !== undefined && { count: given.connections }),
    ...(given.env && { env: given.env }),
    ...(await flagsOf(given, play)),
  }
}

async function execOf({ exec = {} }: RequestCase, { sandbox, script, apiVersion }: Play) {
  const { notExecutable, ...more } = exec === false ? {} : exec
  const plugin = await sandbox.plugin(script)
  const described = { ...plugin, apiVersion, ...more }
  if (!notExecutable) return described
  const command = join(sandbox.folder, 'not-executable')
  writeFileSync(command, '#!/bin/sh\n', { mode: 0o600 })
  return { ...described, command }
}

/** Writes the CA to a file, which the sandbox cannot do. */
function nameCaFile(path: string, name: string, { sandbox }: Play): void {
  writeFileSync(join(sandbox.folder, 'ca.crt'), sandbox.caPem)
  const config = JSON.parse(readFileSync(path, 'utf8'))
  const { cluster } = config.clusters[0]
  cluster['certificate-authority'] = name
  delete cluster['certificate-authority-data']
  writeFileSync(path, JSON.stringify(config))
}

async function flagsOf({ flags = {} }: RequestCase, play: Play): Promise<Partial<Opening>> {
  const { token, certificate, ...rest } = flags
  const pair = certificate && (await play.credentials.certificate(certificate))
  const place = (name: string, text: string): string => {
    const path = join(play.sandbox.folder, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  return {
    ...rest,
    ...(token && { token: play.credentials.token(token) }),
    ...(pair && {
      clientCertificate: place('flag.crt', pair.certificate),
      clientKey: place('flag.key', pair.key),
    }),
  }
}
