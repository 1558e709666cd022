import type { Observer } from '../ports/observer.ts'

/**
 * Makes one observer of several.
 *
 * Each is told everything, also when one before it throws.
 *
 * @example
 * const cluster = await connect({ observer: combine(metrics.observer, (event) => log(event)) })
 */
export function combine(...observers: (Observer | undefined)[]): Observer {
  return (event) => {
    for (const observer of observers) {
      try {
        observer?.(event)
      } catch {
        // The keeper forgives an observer that throws; its neighbours must not pay for it.
      }
    }
  }
}
