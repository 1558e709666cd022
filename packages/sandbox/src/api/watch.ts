import { beginStream } from '../server/send.ts'
import { failure, StatusError } from '../server/status.ts'
import type { ResourceCall } from './call.ts'
import type { KubeObject } from './kube-object.ts'
import type { Change, ObjectStore } from './object-store.ts'
import { scopeOf } from './read-objects.ts'
import type { Resource } from './resources.ts'
import { parseSelectors, type Selector } from './selectors.ts'

/** Options of a watch. */
export interface WatchOptions {
  readonly bookmarkIntervalMs: number
}

interface WatchEvent {
  readonly type: Change['type'] | 'BOOKMARK' | 'ERROR'
  readonly object: unknown
}

const INITIAL_EVENTS_END = { 'k8s.io/initial-events-end': 'true' }

/**
 * Streams changes as JSON lines until the client disconnects or `timeoutSeconds` have passed.
 *
 * The credential is checked only when the watch begins, as in Kubernetes.
 */
export function watchObjects(
  call: ResourceCall,
  resource: Resource,
  store: ObjectStore,
  options: WatchOptions,
): 'streaming' {
  const { response, url } = call
  const query = url.searchParams
  const translate = translator(call, resource)
  const from = readVersion(query)
  const write = ({ type, object }: WatchEvent): void => {
    response.write(`${JSON.stringify({ type, object })}\n`)
  }
  beginStream(response, 'application/json')

  const past = from === undefined ? initialChanges(call, resource, store) : store.changesSince(from)
  if (past === undefined) {
    const message = `too old resource version: ${from} (${store.version})`
    response.end(`${JSON.stringify({ type: 'ERROR', object: failure('Expired', message) })}\n`)
    return 'streaming'
  }
  for (const change of past) translate(change).forEach(write)
  if (query.get('sendInitialEvents') === 'true') {
    write(bookmark(resource, store, INITIAL_EVENTS_END))
  }
  const unsubscribe = store.subscribe((change) => translate(change).forEach(write))
  const stopTimers = startTimers(call, options, () => write(bookmark(resource, store)))
  response.once('close', () => {
    unsubscribe()
    stopTimers()
  })
  return 'streaming'
}

function startTimers(
  { response, url }: ResourceCall,
  { bookmarkIntervalMs }: WatchOptions,
  writeBookmark: () => void,
): () => void {
  const hasBookmarks = ['true', '1'].includes(url.searchParams.get('allowWatchBookmarks') ?? '')
  const seconds = Number(url.searchParams.get('timeoutSeconds') ?? 0)
  const bookmarks = hasBookmarks ? setInterval(writeBookmark, bookmarkIntervalMs) : undefined
  const end = (): void => {
    if (hasBookmarks) writeBookmark()
    response.end()
  }
  const timeout = seconds > 0 ? setTimeout(end, seconds * 1000) : undefined
  return () => {
    clearInterval(bookmarks)
    clearTimeout(timeout)
  }
}

/** Returns the version after which the watch begins; undefined if it begins with all existing objects. */
function readVersion(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion') ?? ''
  const isInitial = query.get('sendInitialEvents') === 'true'
  if (text === '' || text === '0' || isInitial) return undefined
  if (!/^\d{1,15}$/.test(text)) {
    throw new StatusError('BadRequest', `Invalid value: "${text}": resourceVersion is not a number`)
  }
  return Number(text)
}

function initialChanges(call: ResourceCall, resource: Resource, store: ObjectStore): Change[] {
  const { version } = store
  return store
    .list(resource.name, scopeOf(call))
    .map((object) => ({ version, resource: resource.name, type: 'ADDED', object }))
}

/** Returns a function that turns a change of the store into the event of this watch, if any. */
function translator(call: ResourceCall, { name }: Resource): (change: Change) => WatchEvent[] {
  const selects = parseSelectors(call.url.searchParams)
  const scope = scopeOf(call)
  return (change) => {
    const { object, previous } = change
    const isElsewhere = scope !== undefined && object.metadata.namespace !== scope
    return change.resource !== name || isElsewhere ? [] : compare(change, selects, previous)
  }
}

/** An object that begins to match the selector is `ADDED`; one that no longer matches is `DELETED`. */
function compare(
  { type, object }: Change,
  selects: Selector,
  previous: KubeObject | undefined,
): WatchEvent[] {
  const matched = previous !== undefined && selects(previous)
  const matches = type !== 'DELETED' && selects(object)
  if (matches) return [{ type: matched ? 'MODIFIED' : 'ADDED', object }]
  return matched ? [{ type: 'DELETED', object }] : []
}

function bookmark(
  { kind }: Resource,
  store: ObjectStore,
  annotations?: Readonly<Record<string, string>>,
): WatchEvent {
  const metadata = { resourceVersion: String(store.version), creationTimestamp: null }
  return {
    type: 'BOOKMARK',
    object: { kind, apiVersion: 'v1', metadata: { ...metadata, annotations } },
  }
}
