import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** The output and the exit status of a plugin. */
export interface PluginAnswer {
  readonly stdout?: string
  readonly exitCode?: number
  /** The output of later runs, beginning with the second; the last one is repeated. */
  readonly later?: readonly string[]
}

/** What a plugin received in one run. */
export interface SeenRun {
  readonly argv: readonly string[]
  /** Variables that differ from those of the program or were added, without KUBERNETES_EXEC_INFO. */
  readonly env: Readonly<Record<string, string>>
  /** Variables of the program that the plugin did not receive. */
  readonly missing: readonly string[]
  readonly info: unknown
  /** `terminal`, or the kind of standard input. */
  readonly stdin: string
}

const INFO = 'KUBERNETES_EXEC_INFO'
/** Variables that shells set. */
const SHELLS_OWN = ['_', 'PWD', 'OLDPWD', 'SHLVL']

/** Reads the initial environment from /proc, before the shell changes it. */
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

/** A plugin that records how it was started and prints a configured output. */
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

  /** Clears the recorded runs. */
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
