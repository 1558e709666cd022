import { channel } from 'node:diagnostics_channel'
import type { CredentialEvent, Observer } from '../ports/observer.ts'

/**
 * Returns an observer that publishes events on the channel `kubecred:event` of `node:diagnostics_channel`.
 *
 * It publishes each event once, however many connections report it, and does nothing while the channel has no
 * subscriber. The message is the `CredentialEvent` that observers receive. If a subscriber throws, Node raises an
 * uncaught exception.
 */
export function eventPublisher(): Observer {
  const events = channel('kubecred:event')
  const published = new WeakSet<CredentialEvent>()
  return (event) => {
    if (!events.hasSubscribers || published.has(event)) return
    published.add(event)
    events.publish(event)
  }
}
