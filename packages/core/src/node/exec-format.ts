import { open, readdir } from 'node:fs/promises'
import process from 'node:process'

const ELF = Buffer.from('\x7fELF', 'latin1')
/** ELF machine numbers that run here, also those of the 32-bit predecessor. */
const MACHINES: Readonly<Record<string, readonly number[]>> = { x64: [62, 3], arm64: [183, 40] }

/**
 * Whether the kernel would refuse the file for its format.
 *
 * It has to be known before: glibc's `execvp`, which Node uses, then hands the file to /bin/sh, and a
 * shell takes a program for another machine for a script.
 */
export async function isForNobody(path: string): Promise<boolean> {
  if (process.platform !== 'linux') return false
  const head = await readHead(path)
  // What we may not read, only the kernel can judge.
  if (head === undefined || head.subarray(0, 2).toString('latin1') === '#!') return false
  const isElf = head.length === HEAD_BYTES && head.subarray(0, 4).equals(ELF)
  const machines = MACHINES[process.arch]
  if (isElf && (machines === undefined || machines.includes(head.readUInt16LE(18)))) return false
  return !(await hasForeignFormats())
}

const HEAD_BYTES = 20

async function readHead(path: string): Promise<Buffer | undefined> {
  const file = await open(path).catch(() => undefined)
  if (file === undefined) return undefined
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } catch {
    return undefined
  } finally {
    await file.close()
  }
}

/** Whether the kernel was taught more formats (`binfmt_misc`): other machines' programs, or Windows' under WSL. */
async function hasForeignFormats(): Promise<boolean> {
  const names = await readdir('/proc/sys/fs/binfmt_misc').catch(() => [])
  return names.some((name) => name !== 'register' && name !== 'status')
}
