import { open, realpath, rm } from 'node:fs/promises'
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

/** The result of a change. */
export interface Wrapped {
  /** Path of the original file; undefined if it was removed because no change is left. */
  readonly backup: string | undefined
}

/**
 * Applies a planned change under kubectl's lock, and keeps a backup of the original file.
 *
 * Comments, order and unknown fields are preserved. Undoing the only change restores the file byte for byte.
 *
 * @throws {Error} If the change cannot be applied; the file is unchanged.
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
    `the user ${JSON.stringify(user)} in ${JSON.stringify(file)} has changed in the meantime`,
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

/** Writes the backup only if there is none: it is the file before the first change. */
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

/** Undefined if there is no backup, or something else is at its place, such as a named pipe. */
async function readOriginal(backup: string): Promise<string | undefined> {
  return readRegularKubeconfig(backup).then(decode, () => undefined)
}

/** Whether the file was made from this original, and has not been changed since. */
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
