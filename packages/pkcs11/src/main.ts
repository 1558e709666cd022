import { createRequire } from 'node:module'
import process from 'node:process'
import { runSigner, terminalPrompt } from 'kubecred/signer'
import { type CommandLine, parseCommandLine, UsageError } from './command-line.ts'
import { makeSigner } from './handlers.ts'
import { HELP, NO_REQUEST_TEXT } from './help-text.ts'
import type { Access } from './obtain-pin.ts'
import { PIN_VARIABLE } from './pin-settings.ts'
import { TokenError } from './token-error.ts'

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGQUIT: 131, SIGTERM: 143 } as const
const NAME = 'kubecred-pkcs11'

// By default Node opens a debugger on this signal, and this process may be logged in to a token.
process.on('SIGUSR1', () => {})

const environment = takeEnvironment()
const warn = (text: string): void => void process.stderr.write(`${text}\n`)
const signer = makeSigner({ environment, warn, now: Date.now })
process.once('exit', () => signer.close())

await main()

async function main(): Promise<void> {
  try {
    await run(parseCommandLine(process.argv.slice(2)))
  } catch (error) {
    process.exitCode = explain(error)
  }
}

async function run(line: CommandLine): Promise<void> {
  if (line.command === 'sign') return await sign()
  if (line.command === 'help') return void process.stdout.write(HELP)
  if (line.command === 'version') return void process.stdout.write(`${NAME} ${readVersion()}\n`)
  const ending = new AbortController()
  let isServing = false
  const onSignal = takeSignals(ending, () => isServing)
  const { signal } = ending
  const ask = terminalPrompt({ signal, interrupt: () => onSignal('SIGINT') })
  const access: Access = { environment, ask, notify: async (text) => warn(text) }
  if (line.command === 'list') {
    const { runList } = await import('./list/run-list.ts')
    const program = process.argv[1] ?? NAME
    process.stdout.write(await runList({ ...line, access, program, now: Date.now() }))
    return
  }
  const { serve } = await import('./serve.ts')
  const onListening = (): void => {
    isServing = true
  }
  await serve({ ...line, signer, access, log: warn, signal, onListening })
}

async function sign(): Promise<void> {
  if (!process.env['EXTERNAL_SIGNER_PLUGIN_CONFIG']?.trim()) {
    process.stderr.write(NO_REQUEST_TEXT)
    process.exitCode = 2
    return
  }
  await runSigner(signer)
}

/** Copies the environment and deletes its PINs from `process.env`, so that libraries and child processes do not see them. */
function takeEnvironment(): Readonly<Record<string, string | undefined>> {
  const taken = { ...process.env }
  for (const name of Object.keys(taken)) {
    if (name.startsWith(PIN_VARIABLE)) Reflect.deleteProperty(process.env, name)
  }
  return taken
}

type Signal = keyof typeof SIGNALS

/** The first signal closes a server gracefully. A second one, or any signal outside `serve`, ends the process. */
function takeSignals(ending: AbortController, isServer: () => boolean): (signal: Signal) => void {
  const onSignal = (signal: Signal): void => {
    const isSecond = ending.signal.aborted
    ending.abort(new Error(`stopped by ${signal}`))
    // The exit handler turns the terminal's echo on again.
    if (isSecond || !isServer()) process.exit(SIGNALS[signal])
  }
  for (const signal of Object.keys(SIGNALS) as Signal[]) process.on(signal, onSignal)
  return onSignal
}

function explain(error: unknown): number {
  if (error instanceof UsageError) {
    warn(`${NAME}: ${error.message}\nTry '${NAME} --help'`)
    return 2
  }
  const { message, hint, stack } = error as Error & { hint?: unknown }
  const isKnown = error instanceof TokenError || typeof hint === 'string'
  warn(`${NAME}: ${isKnown ? message : stack}`)
  if (typeof hint === 'string') warn(hint)
  return 1
}

function readVersion(): string {
  const { version } = createRequire(import.meta.url)('../package.json') as { version: string }
  return version
}
