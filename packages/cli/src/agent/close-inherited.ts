import { closeSync, readdirSync, readFileSync } from 'node:fs'

const CLOSE_ON_EXEC = 0o2000000

/**
 * Closes the file descriptors above standard error that this process inherited.
 *
 * Otherwise a lock or a pipe of the parent would stay open as long as this process lives. Node opens its own
 * descriptors with close-on-exec, so one without that flag was inherited. Only Linux shows the flag; on macOS Node
 * inherits none.
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
    // The descriptor of the listing itself is closed by now.
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
