import { KubeconfigSyntaxError, LoginToolError } from '../errors/index.ts'
import type { Kubeconfig } from '../kubeconfig/kubeconfig.ts'
import { parseKubeconfig } from '../kubeconfig/parse-kubeconfig.ts'
import type { Environment } from '../node/host-environment.ts'
import { nodePrograms } from '../node/node-programs.ts'
import type { Located, RunOutcome } from '../ports/programs.ts'
import { JsonError, parseJson } from '../protocol/parse-json.ts'
import { forPlugins } from '../protocol/private-variables.ts'
import { showControlCharacters } from '../secret/scrub.ts'
import { Secret } from '../secret/secret.ts'
import { runFacts } from '../sources/run-errors.ts'

/** How kubectl is asked. */
export interface KubectlCall {
  readonly command: string
  /** The file to read in place of those that kubectl finds by itself. */
  readonly kubeconfig: string | undefined
  readonly env: Environment
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly warn: (message: string) => void
}

/** As large as we let a kubeconfig be. */
const MOST_BYTES = 8 * 1024 * 1024
const LONGEST_LINE = 200

/**
 * Asks kubectl for its whole configuration.
 *
 * Neither minified nor flattened: files stay files, which are read again when they change, and a broken
 * entry that nobody uses does no harm.
 *
 * @returns Undefined when there is no such program.
 * @throws {LoginToolError} What it printed is never part of it.
 */
export async function readKubectlConfig(call: KubectlCall): Promise<Kubeconfig | undefined> {
  const { command, kubeconfig, env, timeoutMs, signal } = call
  const programs = nodePrograms(env)
  const located = await programs.locate(command)
  if (located.is === 'missing') return undefined
  const { path } = usable(located, call)
  const file = kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]
  const outcome = await programs.run({
    command,
    path,
    args: [...file, 'config', 'view', '--raw', '--output=json'].map((arg) => new Secret(arg)),
    env: forPlugins(env),
    interactive: false,
    timeoutMs,
    stdoutLimit: MOST_BYTES,
    signal,
  })
  signal.throwIfAborted()
  return readPrinted(command, printedBy(outcome, call))
}

function usable(
  located: Exclude<Located, { is: 'missing' }>,
  { command, warn }: KubectlCall,
): Extract<Located, { is: 'found' }> {
  if (located.is === 'found') {
    if (located.writableByOthers !== undefined) warn(located.writableByOthers)
    return located
  }
  const where = showControlCharacters(JSON.stringify(located.path))
  throw new LoginToolError(command, `cannot run: ${located.reason} (${where})`, {
    hint: 'Make it executable, or name another program as command.',
  })
}

function printedBy(outcome: RunOutcome, { command, timeoutMs }: KubectlCall): Uint8Array {
  const { stderrTail } = runFacts({ ...outcome, stderrTail: unquoted(outcome.stderrTail) }, [])
  const fail = (what: string, hint?: string): never => {
    throw new LoginToolError(command, what, { stderrTail, hint })
  }
  switch (outcome.ended) {
    case 'exited':
      if (outcome.status === 0) return outcome.stdout
      return fail(
        `failed with exit code ${outcome.status}${lastLine(stderrTail)}`,
        `Run "${command} config view" by hand to see more.`,
      )
    case 'killed':
      return fail(`was ended by ${outcome.signal}`)
    case 'timed-out':
      return fail(`did not answer within ${timeoutMs} ms and was stopped`)
    case 'too-loud':
      return fail(`printed more than ${MOST_BYTES} bytes and was stopped`)
    case 'aborted':
      return fail('was stopped')
    case 'not-started':
      return fail(`cannot start: ${outcome.errno} (${outcome.reason})`)
  }
}

/**
 * Takes out the pieces of a kubeconfig that kubectl quotes when it cannot read it: until 1.22 with what stands
 * around the mistake, `...|{"token":["abc|...`, and always the name of an anchor, which a password may look like.
 */
function unquoted(stderr: string): string {
  const start = stderr.indexOf('...|')
  const end = stderr.indexOf('|...')
  // Of a quotation whose beginning is cut off, everything.
  if (end !== -1 && (start === -1 || end < start)) return ''
  const before = start === -1 ? stderr : `${stderr.slice(0, start)}…`
  return before.replace(/unknown anchor '.*'/g, "unknown anchor '…'").replace(/`[^`]*`/g, '`…`')
}

/** kubectl says what is wrong in its last line. */
function lastLine(stderr = ''): string {
  const line = stderr.trim().split('\n').at(-1)?.slice(0, LONGEST_LINE).replace(/\.$/, '')
  return line ? `: ${line}` : ''
}

function readPrinted(command: string, bytes: Uint8Array): Kubeconfig {
  try {
    return parseKubeconfig(parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch (error) {
    const what =
      bytes.length === 0 ? 'printed nothing' : `printed no kubeconfig: ${reasonOf(error)}`
    throw new LoginToolError(command, what, {
      hint: `Run "${command} config view --output=json" by hand: it must print a kubeconfig and nothing else.`,
    })
  }
}

/** Only errors that are known to hold no piece of what was printed. */
function reasonOf(error: unknown): string {
  if (error instanceof JsonError) return error.message
  if (error instanceof KubeconfigSyntaxError)
    return error.message.replace(/^kubeconfig "[^"]*": /, '')
  return 'it is no UTF-8 text'
}
