import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { runFake } from '../run-fake.ts'

const { open } = fs
let opened = 0

const COUNT = 10_000
const folder = mkdtempSync(join(tmpdir(), 'kubecred-many-'))
beforeAll(() => {
  fs.open = (...args) => {
    opened += 1
    return open(...args)
  }
  syncBuiltinESMExports()
})
beforeEach(() => {
  opened = 0
})
afterAll(() => {
  fs.open = open
  syncBuiltinESMExports()
  rmSync(folder, { recursive: true })
})

const numbers = Array.from({ length: COUNT }, (_, number) => number)
const each = (write: (number: number) => string): string => numbers.map(write).join('')

/** As kubectl and other tools write it. */
const YAML = `apiVersion: v1
kind: Config
current-context: context-7
clusters:
${each((number) => `- cluster:\n    server: https://10.0.${number >> 8}.${number & 255}\n  name: cluster-${number}\n`)}contexts:
${each((number) => `- context:\n    cluster: cluster-${number}\n    user: user-${number}\n  name: context-${number}\n`)}users:
${each((number) => `- name: user-${number}\n  user:\n    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: aws\n      args:\n      - eks\n      - --cluster-name\n      - "cluster ${number}"\n      interactiveMode: Never\n`)}`

const JSON_TEXT = JSON.stringify({
  clusters: numbers.map((at) => ({ name: `cluster-${at}`, cluster: { server: 'https://h' } })),
  contexts: numbers.map((at) => ({
    name: `context-${at}`,
    context: { cluster: `cluster-${at}`, user: `user-${at}` },
  })),
  users: numbers.map((at) => ({ name: `user-${at}`, user: { exec: { command: 'aws' } } })),
})

it.each([
  ['YAML', YAML],
  ['JSON', JSON_TEXT],
])('ten thousand contexts in %s are shown, and read once', async (name, text) => {
  const kubeconfig = join(folder, name)
  writeFileSync(kubeconfig, text)
  const { status, out, err } = await runFake(['status', '--kubeconfig', kubeconfig])
  expect({ status, err }).toEqual({ status: 0, err: '' })
  expect(out.trimEnd().split('\n')).toHaveLength(COUNT + 1)
  // Only the kubeconfig is opened, whatever the number of contexts.
  expect(opened).toBe(1)
})
