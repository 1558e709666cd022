import type { Outcome, ResourceCall } from '../api/call.ts'
import type { KubeObject } from '../api/kube-object.ts'
import type { ObjectStore } from '../api/object-store.ts'
import { beginStream } from '../server/send.ts'
import { StatusError } from '../server/status.ts'
import type { PodLogs } from './pod-logs.ts'

/** Answers with the log of a pod; with `follow=true` until the client disconnects or the pod is deleted. */
export function readLog(
  { response, url }: ResourceCall,
  { metadata: { uid } }: KubeObject,
  logs: PodLogs,
  store: ObjectStore,
): Outcome {
  const query = url.searchParams
  const lines = logs.lines(uid)
  const first = Math.max(0, lines.length - (readTail(query) ?? lines.length))
  const text = lines.slice(first).map(asText).join('')
  if (!['true', '1'].includes(query.get('follow') ?? '')) {
    return { status: 200, headers: { 'Content-Type': 'text/plain' }, body: text }
  }
  beginStream(response, 'text/plain')
  if (text !== '') response.write(text)
  const unfollow = logs.follow(uid, (line) => response.write(asText(line)))
  const unsubscribe = store.subscribe(({ type, object }) => {
    if (type === 'DELETED' && object.metadata.uid === uid) response.end()
  })
  response.once('close', () => {
    unfollow()
    unsubscribe()
  })
  return 'streaming'
}

function readTail(query: URLSearchParams): number | undefined {
  const text = query.get('tailLines')
  if (text === null) return undefined
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new StatusError('BadRequest', `tailLines: "${text}" is not a number of lines`)
}

function asText(line: string): string {
  return `${line}\n`
}
