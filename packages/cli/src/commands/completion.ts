import { inspectContexts } from 'kubecred/diagnose'
import type { Command, Run } from '../command.ts'
import { completionScript, SHELLS, type Shell } from '../completion/shells.ts'
import { EXIT } from '../exit-status.ts'
import { UsageError } from '../usage-error.ts'

/** `completion`: prints the completion script of a shell for these commands, their flags and the contexts. */
export function completionOf(commands: readonly Command[]): Run {
  return async ({ args, io, flags }) => {
    const [shell = ''] = args
    if (shell === 'contexts') {
      const contexts = await inspectContexts({ kubeconfig: flags.text('kubeconfig'), env: io.env })
      const names = contexts.map(({ context }) => context).filter((name) => PLAIN_NAME.test(name))
      io.stdout.write(names.map((name) => `${name}\n`).join(''))
      return EXIT.done
    }
    if (!isShell(shell)) {
      throw new UsageError(
        `completion takes ${SHELLS.join(', ')}, not ${JSON.stringify(shell)}`,
        'completion',
      )
    }
    io.stdout.write(completionScript(shell, commands))
    return EXIT.done
  }
}

/**
 * A name that means itself in every shell, and in every script that users have sourced from earlier versions.
 *
 * Others are left out: a file from elsewhere chooses the names, and a shell could run, expand or display what is in them.
 */
const PLAIN_NAME = /^[\p{L}\p{N}_./@:][\p{L}\p{N}_./@:+=,%-]*$/u

function isShell(name: string): name is Shell {
  return (SHELLS as readonly string[]).includes(name)
}
