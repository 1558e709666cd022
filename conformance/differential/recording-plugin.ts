import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** What a plugin prints and how it ends. */
export interface PluginAnswer {
  readonly stdout?: string
  readonly exitCode?: number
  /** What the later runs print, the second first; the last stays. */
  readonly later?: readonly string[]
}

/** What a plugin saw of its client in one run. */
export interface SeenRun {
  readonly argv: readonly string[]
  /** Variables that the program itself was not given, or with another value; without KUBERNETES_EXEC_INFO. */
  readonly env: Readonly<Record<string, string>>
  /** Variables of the program that the plugin was not given. */
  readonly missing: readonly string[]
  readonly info: unknown
  /** `terminal`, or where it comes from. */
  readonly stdin: string
}

const INFO = 'KUBERNETES_EXEC_INFO'
/** Shells write these on the way. */
const SHELLS_OWN = ['_', 'PWD', 'OLDPWD', 'SHLVL']

/** The first environment of a process stands in /proc, before its shell has touched it. */
const script = (folder: string): string => `#!/bin/sh
PATH=/usr/bin:/bin
cd '${folder}' || exit 125
run=1
while ! mkdir "runs/$run" 2>/dev/null; do run=$((run + 1)); done
printf '%s\\0' "$0" "$@" > "runs/$run/argv"
cat "/proc/$$/environ" > "runs/$run/environ"
if [ -t 0 ]; then echo terminal; else readlink "/proc/$$/fd/0"; fi > "runs/$run/stdin"
while [ "$run" -gt 1 ] && ! [ -e "answer-$run" ]; do run=$((run - 1)); done
cat "answer-$run"
exit "$(cat status)"
`

/** An executable that writes down how it was called and prints what it was told. */
export class RecordingPlugin {
  readonly path: string
  readonly #folder: string

  constructor(path: string, folder: string) {
    this.path = path
    this.#folder = join(folder, `plugin-${basename(path)}`)
    mkdirSync(this.#folder)
    this.reset()
    writeFileSync(path, script(this.#folder), { mode: 0o755 })
  }

  answer({ stdout = '', exitCode = 0, later = [] }: PluginAnswer): this {
    for (const [index, text] of [stdout, ...later].entries()) {
      writeFileSync(join(this.#folder, `answer-${index + 1}`), text)
    }
    writeFileSync(join(this.#folder, 'status'), String(exitCode))
    return this
  }

  /** Forgets its runs. */
  reset(): void {
    rmSync(join(this.#folder, 'runs'), { recursive: true, force: true })
    mkdirSync(join(this.#folder, 'runs'))
  }

  /** The runs since the last reset. */
  runs(host: Readonly<Record<string, string>>): readonly SeenRun[] {
    const names = readdirSync(join(this.#folder, 'runs'))
    return names.sort((a, b) => Number(a) - Number(b)).map((name) => this.#read(name, host))
  }

  #read(run: string, host: Readonly<Record<string, string>>): SeenRun {
    const read = (name: string): string =>
      readFileSync(join(this.#folder, 'runs', run, name), 'utf8')
    const environment = new Map(
      split(read('environ')).map((line): [string, string] => {
        const at = line.indexOf('=')
        return [line.slice(0, at), line.slice(at + 1)]
      }),
    )
    const known = [...environment].filter(([name]) => !SHELLS_OWN.includes(name) && name !== INFO)
    return {
      argv: split(read('argv')),
      env: Object.fromEntries(known.filter(([name, value]) => host[name] !== value)),
      missing: Object.keys(host).filter((name) => !environment.has(name)),
      info: JSON.parse(environment.get(INFO) ?? 'null'),
      stdin: read('stdin').trim(),
    }
  }
}

function split(text: string): string[] {
  return text.split('\0').slice(0, -1)
}
