import { closeSync, readdirSync, readFileSync } from 'node:fs'

const CLOSE_ON_EXEC = 0o2000000

/**
 * Closes the descriptors above standard error that this process was started with.
 *
 * A lock or a pipe of the program that started us would else be held for as long as we live. What Node opens by itself
 * is closed on exec, so that what is not was inherited. Only Linux says which is which; macOS passes none.
 */
export function closeInherited(): void {
  for (const name of listDescriptors()) {
    const number = Number(name)
    if (number > 2 && isInherited(number)) close(number)
  }
}

function listDescriptors(): readonly string[] {
  try {
    return readdirSync('/proc/self/fd')
  } catch {
    return []
  }
}

function isInherited(number: number): boolean {
  try {
    const [, flags] =
      /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, 'utf8')) ?? []
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0
  } catch {
    // The one that listed the others is closed by now.
    return false
  }
}

function close(number: number): void {
  try {
    closeSync(number)
  } catch {
    // Closed already.
  }
}
