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
  { flags, io, story, signal }: Call,
  work: (cluster: Cluster) => Promise<number>,
  { stdinUnavailable }: { readonly stdinUnavailable?: string | undefined } = {},
): Promise<number> {
  const cluster = await connect({
    ...connectOptions(flags),
    env: io.env,
    transport: 'https',
    observer: story.observe,
    signal,
    stdinUnavailable,
  })
  try {
    const { context, server, credential } = cluster.status()
    const where = context === undefined ? 'no context' : `context ${quote(context)}`
    story.tell(`${where}, server ${server}, ${describeSource(credential.source)}`)
    return await work(cluster)
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    await cluster.close()
  }
}
