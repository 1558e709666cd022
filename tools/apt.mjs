// Installs Debian packages on machines that have apt-get: as root, or with sudo if it needs no password.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/**
 * Returns what installs packages, or why nothing can be installed.
 *
 * @returns {{ run(...args: string[]): boolean, knows(name: string): boolean, isDebian: boolean } | { problem: string }}
 */
export function findApt({ isRoot = process.getuid?.() === 0, osRelease = '/etc/os-release' } = {}) {
  if (!runs('apt-get', ['--version'])) return { problem: 'apt-get is not available' }
  if (!isRoot && !runs('sudo', ['-n', 'true'])) {
    return { problem: 'neither root nor sudo without a password' }
  }
  const env = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get']
  const [command, ...first] = isRoot ? env : ['sudo', '-n', ...env]
  return {
    run: (...args) =>
      spawnSync(command, [...first, ...args], { stdio: ['ignore', 2, 2] }).status === 0,
    knows: (name) => runs('apt-cache', ['show', name]),
    isDebian: existsSync(osRelease) && /^ID="?debian"?$/m.test(readFileSync(osRelease, 'utf8')),
  }
}

/** Whether a program is installed and its probe succeeds. */
export function runs(command, args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}
