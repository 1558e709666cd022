import { spawn } from 'node:child_process'
import type { Environment } from '@kubecred/cli/internal'

/** The reason {@link whyNotOpen} returns in an SSH session. */
export const OVER_SSH = 'this is an SSH session'

/** Returns why a browser should not be opened; undefined if it may be. */
export function whyNotOpen({
  env,
  platform,
  isTerminal,
}: {
  readonly env: Environment
  readonly platform: NodeJS.Platform
  readonly isTerminal: boolean
}): string | undefined {
  if (env['SSH_CONNECTION'] || env['SSH_TTY']) return OVER_SSH
  if (env['CI']) return 'this is CI'
  if (!isTerminal) return 'standard output is not a terminal'
  const hasDisplay = platform === 'darwin' || platform === 'win32'
  if (!hasDisplay && !env['DISPLAY'] && !env['WAYLAND_DISPLAY']) return 'there is no display'
  return undefined
}

/**
 * Opens a URL in the user's browser, as a detached process.
 *
 * Other users can see the URL with its secret in the process list. That is acceptable here, because the page shows only
 * the demo's own server.
 *
 * @returns The reason if the browser could not be started, else undefined.
 */
export function openBrowser(
  url: string,
  { env, platform }: { readonly env: Environment; readonly platform: NodeJS.Platform },
): Promise<string | undefined> {
  const [command, ...args] = commandFor(platform, env)
  return new Promise((resolve) => {
    const child = spawn(command, [...args, url], { env, stdio: 'ignore', detached: true })
    child.once('spawn', () => {
      child.unref()
      resolve(undefined)
    })
    child.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      resolve(code === 'ENOENT' ? `${command} is not installed` : message)
    })
  })
}

function commandFor(platform: NodeJS.Platform, env: Environment): [string, ...string[]] {
  if (platform === 'darwin') return ['open']
  // The empty argument is the window title, which "start" expects first.
  if (platform === 'win32') {
    // With its full path: a name is looked up in the current folder first.
    return [`${env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\cmd.exe`, '/d', '/c', 'start', '']
  }
  return ['xdg-open']
}
