// Runs vitest once, in this terminal.
import { spawnSync } from 'node:child_process'

/**
 * @param node The path of the Node to run it with.
 * @param env Variables in addition to the current ones.
 * @returns Whether every test passed.
 */
export function runVitest(args, { node = process.execPath, env = {} } = {}) {
  const { status } = spawnSync(node, ['node_modules/vitest/vitest.mjs', 'run', ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  return status === 0
}
