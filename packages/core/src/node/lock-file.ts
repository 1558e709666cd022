import { open, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** How long another writer is waited for; kubectl does not wait at all. */
const LONGEST_WAIT_MS = 10_000
const LOOK_AGAIN_MS = 50

/**
 * Holds the lock of each file while `work` runs: `<file>.lock`, created exclusively, as kubectl does.
 *
 * A lock that a killed program left behind is not guessed at: it could be a writer's on another machine.
 *
 * @throws {Error} Names the lock file that did not go away.
 */
export async function withLocks<T>(
  files: readonly string[],
  work: () => Promise<T>,
  longestWaitMs = LONGEST_WAIT_MS,
): Promise<T> {
  const held: string[] = []
  try {
    // Sorted, so that two writers of the same files cannot wait for each other.
    for (const file of [...new Set(files)].sort()) {
      const lock = `${file}.lock`
      await create(lock, longestWaitMs)
      held.push(lock)
    }
    return await work()
  } finally {
    for (const lock of held) await rm(lock, { force: true })
  }
}

async function create(lock: string, longestWaitMs: number): Promise<void> {
  const end = performance.now() + longestWaitMs
  for (;;) {
    try {
      await (await open(lock, 'wx', 0o600)).close()
      return
    } catch (error) {
      if ((error as { code?: string }).code !== 'EEXIST') throw error
    }
    if (performance.now() >= end) {
      throw new Error(
        `the lock file ${JSON.stringify(lock)} has been there for ${Math.round(longestWaitMs / 1000)} s; ` +
          'remove it if no program is writing the kubeconfig',
      )
    }
    await sleep(LOOK_AGAIN_MS)
  }
}
