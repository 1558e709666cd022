import { open, readFile, realpath, rm } from 'node:fs/promises'
import {
  editYaml,
  editYamlList,
  parseKubeconfigText,
  readRegularKubeconfig,
  replaceFile,
  withLocks,
} from 'kubecred/internal'
import { isWrapped, type StanzaChange, type WrapPlan } from './plan.ts'

const BYTE_ORDER_MARK = '\u{feff}'

/** What was done. */
export interface Wrapped {
  /** The file as it was before the first change; undefined when there is none any more. */
  readonly backup: string | undefined
}

/**
 * Writes a change that was planned, under kubectl's lock, and the file as it was beside it.
 *
 * Comments, order and fields that nobody here knows stay. To undo the only change brings back every byte.
 *
 * @throws {Error} With a message for people; the file is as it was.
 */
export async function applyWrap(plan: WrapPlan): Promise<Wrapped> {
  const real = await realpath(plan.file)
  const backup = `${real}.kubecred-backup`
  return withLocks([plan.file, real], async () => {
    const text = decode(await readRegularKubeconfig(real))
    const edited = editStanza(text, plan)
    if (!plan.isUndo) {
      await keepOriginal(backup, text)
      await replaceFile(real, edited)
      return { backup }
    }
    const original = await readOriginal(backup)
    await replaceFile(real, isOrigin(original, text, plan) ? original : edited)
    if (hasWrapped(edited, plan.file)) return { backup }
    await rm(backup, { force: true })
    return { backup: undefined }
  })
}

function editStanza(text: string, { file, user, change }: WrapPlan): string {
  if (isStill(change.expected, withoutMark(text), file, user)) return edit(text, user, change)
  throw new Error(
    `the user ${JSON.stringify(user)} in ${JSON.stringify(file)} has changed meanwhile`,
  )
}

function edit(
  text: string,
  user: string,
  { command, removed, inserted }: Omit<StanzaChange, 'expected'>,
): string {
  const body = withoutMark(text)
  const mark = text.slice(0, text.length - body.length)
  const path = ['users', { named: user }, 'user', 'exec']
  const named = editYaml(body, path, { command })
  return mark + editYamlList(named, path, 'args', { removed, inserted })
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text
}

function isStill(
  { command, args }: StanzaChange['expected'],
  text: string,
  file: string,
  user: string,
): boolean {
  const exec = parseKubeconfigText(text, file).users.get(user)?.exec
  const found = exec?.args.map((arg) => arg.expose())
  return exec?.command === command && JSON.stringify(found) === JSON.stringify(args)
}

/** Only the first time: what counts is how it was before us. */
async function keepOriginal(backup: string, text: string): Promise<void> {
  const file = await open(backup, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return undefined
    throw error
  })
  if (file === undefined) return
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function readOriginal(backup: string): Promise<string | undefined> {
  return readFile(backup, 'utf8').catch(() => undefined)
}

/** Whether this is what the file was made from, and nobody has changed anything since. */
function isOrigin(original: string | undefined, text: string, plan: WrapPlan): original is string {
  if (original === undefined) return false
  const { expected, removed } = plan.change
  try {
    const inserted = expected.args.slice(0, removed)
    return edit(original, plan.user, { command: expected.command, removed: 0, inserted }) === text
  } catch {
    return false
  }
}

function hasWrapped(text: string, file: string): boolean {
  const { users } = parseKubeconfigText(withoutMark(text), file)
  return [...users.values()].some(({ exec }) => isWrapped(exec?.command ?? ''))
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Error('the file is not UTF-8 text')
  }
}
