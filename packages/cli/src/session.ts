import { type Cluster, connect } from 'kubecred'
import type { Call } from './command.ts'
import { connectOptions } from './flags/connect-options.ts'
import { describeSource, quote } from './render/describe-source.ts'

/**
 * Connects as the flags say, lets the command work, and closes the connection whatever happens.
 *
 * @param options.stdinUnavailable Set when the command reads standard input itself.
 */
export async function withSession(
  { flags, io, story, signal, patience }: Call,
  work: (cluster: Cluster) => Promise<number>,
  { stdinUnavailable }: { readonly stdinUnavailable?: string | undefined } = {},
): Promise<number> {
  patience.begin('the kubeconfig files')
  const cluster = await connect({
    ...connectOptions(flags),
    env: io.env,
    transport: 'https',
    observer: (event) => {
      patience.observe(event)
      story.observe(event)
    },
    signal,
    stdinUnavailable,
  })
  patience.end()
  try {
    story.tell(describeConnection(cluster))
    return await work(cluster)
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    await cluster.close()
  }
}

/** A connection in one line: context, server and source. */
export function describeConnection(cluster: Cluster): string {
  const { context, server, credential } = cluster.status()
  const where = context === undefined ? 'no context' : `context ${quote(context)}`
  return `${where}, server ${server}, ${describeSource(credential.source)}`
}
