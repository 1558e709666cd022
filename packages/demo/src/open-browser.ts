import { spawn } from 'node:child_process'
import type { Environment } from '@kubecred/cli/internal'

export const OVER_SSH = 'this is a session over ssh'

/** Why no browser is opened here; undefined when one may be. */
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
  if (!isTerminal) return 'standard output is no terminal'
  const hasScreen = platform === 'darwin' || platform === 'win32'
  if (!hasScreen && !env['DISPLAY'] && !env['WAYLAND_DISPLAY']) return 'there is no screen'
  return undefined
}

/**
 * Opens an address in the person's browser, which does not end with us.
 *
 * The address is seen by whoever lists processes, with the secret in it. Here it opens a page about a cluster that
 * does not exist.
 *
 * @returns Why it could not be done; undefined when it began.
 */
export function openBrowser(
  url: string,
  { env, platform }: { readonly env: Environment; readonly platform: NodeJS.Platform },
): Promise<string | undefined> {
  const [command, ...args] = commandFor(platform)
  return new Promise((resolve) => {
    const child = spawn(command, [...args, url], { env, stdio: 'ignore', detached: true })
    child.once('spawn', () => {
      child.unref()
      resolve(undefined)
    })
    child.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      resolve(code === 'ENOENT' ? `there is no ${command}` : message)
    })
  })
}

function commandFor(platform: NodeJS.Platform): [string, ...string[]] {
  if (platform === 'darwin') return ['open']
  // The empty argument is the title of the window, which "start" takes first.
  if (platform === 'win32') return ['cmd', '/c', 'start', '']
  return ['xdg-open']
}
