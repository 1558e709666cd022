import { isUtf8 } from 'node:buffer'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { builtKubectl, usualKubectl } from '../../../packages/cli/test/agent/find-kubectl.ts'
import type { Kubeconfig } from '../../../packages/core/src/kubeconfig/kubeconfig.ts'
import { parseKubeconfigText } from '../../../packages/core/src/kubeconfig/parse-kubeconfig.ts'
import { readCorpus } from '../corpus.ts'
import { type FuzzTarget, must, resultOf } from '../fuzz-target.ts'
import { KUBECONFIG_WORDS } from './kubeconfig.ts'

const TIME_LIMIT_MS = 10_000

/** Compares what we read in a kubeconfig with `kubectl config view`, which asks no server. */
export const kubectl: FuzzTarget = {
  name: 'kubectl',
  about: 'kubectl reads the same servers, tokens, plugins and contexts in a kubeconfig',
  share: 5,
  missing: () => (findKubectl() === undefined ? 'skipped: kubectl is not installed' : undefined),
  async open() {
    const program = findKubectl()?.path ?? 'kubectl'
    const folder = mkdtempSync(join(tmpdir(), 'kubecred-fuzz-'))
    const file = join(folder, 'config')
    return {
      corpus: readCorpus('kubeconfig'),
      words: KUBECONFIG_WORDS,
      check(input, note) {
        // We replace other bytes before the text is parsed.
        if (!isUtf8(input)) return
        writeFileSync(file, input)
        const theirs = view(program, file, folder)
        const text = input.toString().replace(/^\ufeff/, '')
        const ours = resultOf(() => parseKubeconfigText(text, file))
        if (theirs === undefined && 'value' in ours) return note('kubectl refuses what we read')
        if (theirs !== undefined && 'error' in ours) return note('kubectl reads what we refuse')
        if (theirs === undefined || 'error' in ours) return
        const [left, right] = [summaryOfView(theirs), summaryOf(ours.value)]
        const shown = JSON.stringify({ kubectl: left, kubecred: right })
        must(isDeepStrictEqual(left, right), `the same file means something else: ${shown}`)
      },
      async [Symbol.asyncDispose]() {
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
}

/** The output of `kubectl config view`, as far as it is compared. Lists may be null. */
interface View {
  readonly clusters: readonly Named<'cluster', { readonly server?: string }>[] | null
  readonly users: readonly Named<'user', ViewedUser>[] | null
  readonly contexts: readonly Named<'context', ViewedContext>[] | null
  readonly 'current-context': string
}

type Named<K extends string, T> = { readonly name: string } & Readonly<Record<K, T>>

interface ViewedUser {
  readonly token?: string
  readonly exec?: { readonly command?: string; readonly args?: readonly string[] | null }
}

interface ViewedContext {
  readonly cluster?: string
  readonly user?: string
  readonly namespace?: string
}

/** The newest one first: the one of the cluster suite. */
const findKubectl = () => builtKubectl() ?? usualKubectl()

function view(program: string, file: string, home: string): View | undefined {
  const line = ['config', 'view', '--raw', '-o', 'json', '--kubeconfig', file]
  const { status, stdout } = spawnSync(program, line, {
    encoding: 'utf8',
    timeout: TIME_LIMIT_MS,
    env: { PATH: process.env['PATH'], HOME: home, KUBERC: 'off' },
  })
  return status === 0 ? JSON.parse(stdout) : undefined
}

/** What is compared: the entries by name, sorted. Empty and missing values are the same to both programs. */
type Summary = Readonly<Record<'clusters' | 'users' | 'contexts' | 'current', unknown>>

function summaryOfView({ clusters, users, contexts, ...rest }: View): Summary {
  return {
    clusters: sorted((clusters ?? []).map(({ name, cluster }) => [name, cluster.server ?? ''])),
    users: sorted(
      (users ?? []).map(({ name, user: { token = '', exec } }) => [
        name,
        [token, exec?.command ?? '', ...(exec?.args ?? [])],
      ]),
    ),
    contexts: sorted(
      (contexts ?? []).map(({ name, context: { cluster = '', user = '', namespace = '' } }) => [
        name,
        [cluster, user, namespace],
      ]),
    ),
    current: rest['current-context'],
  }
}

function summaryOf({ clusters, users, contexts, currentContext }: Kubeconfig): Summary {
  return {
    clusters: sorted([...clusters].map(([name, { server }]) => [name, server ?? ''])),
    users: sorted(
      [...users].map(([name, { token, exec }]) => [
        name,
        [
          token?.expose() ?? '',
          exec?.command ?? '',
          ...(exec?.args ?? []).map((arg) => arg.expose()),
        ],
      ]),
    ),
    contexts: sorted(
      [...contexts].map(([name, { cluster, user, namespace }]) => [
        name,
        [cluster ?? '', user ?? '', namespace ?? ''],
      ]),
    ),
    current: currentContext ?? '',
  }
}

function sorted(entries: readonly (readonly [string, unknown])[]): unknown {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
}
