import { gzipSync } from 'node:zlib'
import type { StandardStreams } from './standard-streams.ts'

/** The user and the pod of a command. */
export interface CommandContext {
  readonly username: string
  /** Returns the last archive that was unpacked in the pod. */
  archive(): Buffer | undefined
  keepArchive(bytes: Buffer): void
}

/**
 * Simulates a command in a pod: `whoami`, `tar`, and for every other command an echo of standard input.
 *
 * `tar x` stores the archive, and `tar c` returns the last one, whatever the paths. That is enough for `kubectl cp` in
 * both directions.
 */
export function runCommand(
  [program, mode = '']: readonly string[],
  streams: StandardStreams,
  context: CommandContext,
): void {
  if (program === 'whoami') {
    streams.writeOutput(context.username)
    streams.exit(0)
  } else if (program === 'tar' && mode.includes('c')) pack(mode, streams, context)
  else if (!streams.hasInput) streams.exit(0)
  else if (program === 'tar') unpack(streams, context)
  else echo(streams)
}

/** Echoes standard input, as `cat` does. */
export function echo(streams: StandardStreams): void {
  streams.read({
    onData: (data) => streams.writeOutput(data),
    onEnd: () => streams.exit(0),
  })
}

function unpack(streams: StandardStreams, context: CommandContext): void {
  const chunks: Buffer[] = []
  streams.read({
    onData: (data) => chunks.push(data),
    onEnd: () => {
      context.keepArchive(Buffer.concat(chunks))
      streams.exit(0)
    },
  })
}

function pack(mode: string, streams: StandardStreams, context: CommandContext): void {
  const archive = context.archive()
  if (archive === undefined) {
    streams.writeError('tar: nothing has been copied to this pod\n')
    streams.exit(2)
    return
  }
  streams.writeOutput(mode.includes('z') ? gzipSync(archive) : archive)
  streams.exit(0)
}
