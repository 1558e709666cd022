import { gzipSync } from 'node:zlib'
import type { StandardStreams } from './standard-streams.ts'

/** Where and by whom a command is run. */
export interface Place {
  readonly username: string
  /** The last archive that was unpacked in the pod. */
  archive(): Buffer | undefined
  keepArchive(bytes: Buffer): void
}

/**
 * Runs what a pod of the sandbox knows to run: `whoami`, `tar`, and for everything else an echo
 * of standard input, which ends with it.
 *
 * `tar x` keeps the archive as it came, and `tar c` sends the last one back, whatever the paths: that
 * is what copying into a pod and out of it needs.
 */
export function runCommand(
  [program, mode = '']: readonly string[],
  streams: StandardStreams,
  place: Place,
): void {
  if (program === 'whoami') {
    streams.writeOutput(place.username)
    streams.exit(0)
  } else if (program === 'tar' && mode.includes('c')) pack(mode, streams, place)
  else if (!streams.hasInput) streams.exit(0)
  else if (program === 'tar') unpack(streams, place)
  else echo(streams)
}

/** Sends back what arrives, as `cat` does. */
export function echo(streams: StandardStreams): void {
  streams.read({
    onData: (data) => streams.writeOutput(data),
    onEnd: () => streams.exit(0),
  })
}

function unpack(streams: StandardStreams, place: Place): void {
  const chunks: Buffer[] = []
  streams.read({
    onData: (data) => chunks.push(data),
    onEnd: () => {
      place.keepArchive(Buffer.concat(chunks))
      streams.exit(0)
    },
  })
}

function pack(mode: string, streams: StandardStreams, place: Place): void {
  const archive = place.archive()
  if (archive === undefined) {
    streams.writeError('tar: nothing has been copied to this pod\n')
    streams.exit(2)
    return
  }
  streams.writeOutput(mode.includes('z') ? gzipSync(archive) : archive)
  streams.exit(0)
}
