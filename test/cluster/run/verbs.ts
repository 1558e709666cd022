import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { ended } from '../../../packages/cli/test/run/home.ts'
import { HTTP_PORT } from '../harness/kwok-config.ts'
import { until } from '../harness/until.ts'
import type { Runner, RunScene } from './run-scene.ts'

/** A use of kubectl. */
export type Verb = (scene: RunScene, runner: Runner) => Promise<void>

const MEGABYTE = 1_000_000
/** tar reads records of ten kilobytes; a file of this size, with its header and two final blocks, fills them exactly. */
const WHOLE_RECORDS = 100 * 10_240 - 512 - 1024

/** Plain requests. */
export const REQUESTS: Readonly<Record<string, Verb>> = {
  async get(scene, runner) {
    const ended = await scene.run(runner, ['kubectl', 'get', 'pods', '-o', 'name'])
    expect(ended).toMatchObject({ status: 0, out: 'pod/web\n', err: '' })
  },

  async 'get -w'(scene, runner) {
    const command = ['kubectl', 'get', 'configmaps', '-o', 'name', '-w']
    const running = scene.start(runner, command)
    for (const name of [scene.cluster.unique('one'), scene.cluster.unique('two')]) {
      const path = `/api/v1/namespaces/${scene.namespace}/configmaps`
      await scene.cluster.create(path, { metadata: { name } })
      await running.until('out', new RegExp(`^configmap/${name}$`, 'm'))
    }
    running.child.kill('SIGTERM')
    await ended(running)
  },

  async apply(scene, runner) {
    const name = scene.cluster.unique('paint')
    const apply = (colour: string, ...flags: string[]) => {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { colour } }
      return `echo '${JSON.stringify(object)}' | kubectl apply ${flags.join(' ')} -f -`
    }
    const force = ['--server-side', '--force-conflicts', '--field-manager=suite']
    const lines = [apply('blue'), apply('red'), apply('green', ...force)]
    const { status, out, err } = await scene.run(runner, ['sh', '-ec', lines.join('\n')])
    expect({ status, err }).toEqual({ status: 0, err: '' })
    const results = ['created', 'configured', 'serverside-applied']
    expect(out.trimEnd().split('\n')).toEqual(results.map((word) => `configmap/${name} ${word}`))
    const path = `/api/v1/namespaces/${scene.namespace}/configmaps/${name}`
    const { body } = await scene.cluster.admin('GET', path)
    expect(body.data).toEqual({ colour: 'green' })
    expect(body.metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: 'suite', operation: 'Apply' }),
    )
  },

  async 'logs -f'(scene, runner) {
    await showsNewLines(scene, runner, ['kubectl', 'logs', '-f', 'web'])
  },

  /** A large response, compared byte by byte. */
  async 'get --raw'(scene, runner) {
    const path = '/openapi/v2'
    const { out, status } = await scene.run(runner, ['kubectl', 'get', '--raw', path])
    expect(status).toBe(0)
    expect(out.length).toBeGreaterThan(MEGABYTE)
    expect(JSON.parse(out)).toMatchObject({ swagger: '2.0' })
  },
}

/** Upgraded connections. */
export const CONNECTIONS: Readonly<Record<string, Verb>> = {
  async exec(scene, runner) {
    const script = 'echo out; echo err >&2; exit 3'
    const args = ['exec', 'web', '--', 'sh', '-c', script]
    const { signal, ...ours } = await scene.run(runner, ['kubectl', ...args])
    expect(ours.out).toBe('out\n')
    // kwok reports the exit status only in the message; kubectl behaves the same without kubecred.
    expect(ours).toEqual(scene.bare(runner.kubectl, args))
  },

  async 'exec -i'(scene, runner) {
    const line = randomBytes(20_000).toString('hex')
    const args = ['kubectl', 'exec', '-i', 'web', '--', 'sh', '-c', 'read x; echo "$x"']
    const { status, out } = await scene.run(runner, args, `${line}\n`)
    expect({ status, same: out === `${line}\n` }).toEqual({ status: 0, same: true })
  },

  async attach(scene, runner) {
    await showsNewLines(scene, runner, ['kubectl', 'attach', 'web'])
  },

  async 'port-forward'(scene, runner) {
    const command = ['kubectl', 'port-forward', 'web', `:${HTTP_PORT}`]
    const running = scene.start(runner, command)
    const [, port] = await running.until('out', /127\.0\.0\.1:(\d+) ->/)
    const asked = await Promise.all([1, 2, 3].map(() => fetchText(`http://127.0.0.1:${port}/`)))
    expect(asked).toEqual(['hello\n', 'hello\n', 'hello\n'])
    running.child.kill('SIGTERM')
    await ended(running)
  },

  async 'cp from a pod'(scene, runner) {
    const [there, here] = files(scene)
    const content = randomBytes(MEGABYTE)
    writeFileSync(there, content)
    const { status } = await scene.run(runner, ['kubectl', 'cp', `web:${there}`, here])
    expect(status).toBe(0)
    expect(readFileSync(here).equals(content)).toBe(true)
  },

  async 'cp to a pod'(scene, runner) {
    const [there, here] = files(scene)
    const content = randomBytes(WHOLE_RECORDS)
    writeFileSync(here, content)
    const running = scene.start(runner, ['kubectl', 'cp', here, `web:${there}`])
    await until(() => existsSync(there) && readFileSync(there).equals(content))
    // kwok does not close the input of a command, so tar would hang, with and without kubecred.
    running.child.kill('SIGTERM')
    await ended(running)
  },
}

/** A pod of kwok has the files of this machine: one file for the pod, one for the client. */
function files(scene: RunScene): [there: string, here: string] {
  const folder = scene.cluster.folder('copied')
  return [join(folder, 'there'), join(folder, 'here')]
}

async function showsNewLines(scene: RunScene, runner: Runner, command: readonly string[]) {
  const running = scene.start(runner, command)
  const line = scene.cluster.unique('line')
  await until(() => {
    // Attaching shows only later output.
    scene.cluster.log(line)
    return running.out.includes(line)
  })
  const later = scene.cluster.unique('later')
  scene.cluster.log(later)
  await running.until('out', new RegExp(later))
  running.child.kill('SIGTERM')
  await ended(running)
}

function fetchText(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => text(response).then(resolve, reject)).on(
      'error',
      reject,
    )
  })
}
