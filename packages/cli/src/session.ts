import { type Cluster, connect, type Secret } from 'kubecred'
import type { Call } from './command.ts'
import { connectOptions } from './flags/connect-options.ts'
import { describeSource, quote } from './render/describe-source.ts'

/**
 * Connects with the options from the flags, runs the work of a command, and always closes the connection.
 *
 * From then on the secrets of the credential are removed from everything that is written, also if a server repeats them.
 *
 * @param options.stdinUnavailable The reason why plugins cannot prompt, if the command reads standard input itself.
 * @param options.secrets Further secrets to remove from the output.
 */
export async function withSession(
  { flags, io, log, signal, progress, stderr }: Call,
  work: (cluster: Cluster) => Promise<number>,
  { stdinUnavailable, secrets = [] }: SessionOptions = {},
): Promise<number> {
  progress.begin('the kubeconfig files')
  const cluster = await connect({
    ...connectOptions(flags, io),
    env: io.env,
    transport: 'https',
    observer: (event) => {
      progress.observe(event)
      log.observe(event)
    },
    signal,
    stdinUnavailable,
  })
  progress.end()
  stderr.hideWith((text) => cluster.hideSecrets(text, secrets))
  try {
    log.tell(describeConnection(cluster))
    return await work(cluster)
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    await cluster.close()
  }
}

interface SessionOptions {
  readonly stdinUnavailable?: string | undefined
  readonly secrets?: readonly Secret[]
}

/** Describes a connection in one line: context, server and source. */
export function describeConnection(cluster: Cluster): string {
  const { context, server, credential } = cluster.status()
  const where = context === undefined ? 'no context' : `context ${quote(context)}`
  return `${where}, server ${server}, ${describeSource(credential.source)}`
}
