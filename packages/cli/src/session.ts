import { type Cluster, connect, type Secret } from 'kubecred'
import type { Call } from './command.ts'
import { connectOptions } from './flags/connect-options.ts'
import { describeSource, quote } from './render/describe-source.ts'

/**
 * Connects as the flags say, lets the command work, and closes the connection whatever happens.
 *
 * What a server repeats of the credential is written nowhere.
 *
 * @param options.stdinUnavailable Set when the command reads standard input itself.
 * @param options.secrets What must not be written either.
 */
export async function withSession(
  { flags, io, story, signal, patience, words }: Call,
  work: (cluster: Cluster) => Promise<number>,
  { stdinUnavailable, secrets = [] }: SessionOptions = {},
): Promise<number> {
  patience.begin('the kubeconfig files')
  const cluster = await connect({
    ...connectOptions(flags, io),
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
  words.hideWith((text) => cluster.hideSecrets(text, secrets))
  try {
    story.tell(describeConnection(cluster))
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

/** A connection in one line: context, server and source. */
export function describeConnection(cluster: Cluster): string {
  const { context, server, credential } = cluster.status()
  const where = context === undefined ? 'no context' : `context ${quote(context)}`
  return `${where}, server ${server}, ${describeSource(credential.source)}`
}
