import type { Access } from './access.ts'

/**
 * The same access for somebody who has chosen a server already: nothing of another one is given to them.
 *
 * @param origin The server of now; it may be another one later.
 */
export function pinnedAccess(access: Access, origin: () => string): Access {
  return {
    label: access.label,
    lasting: access.lasting,
    mostRetries: access.mostRetries,
    lease: (signal, wish) => access.lease(signal, { origin: origin(), ...wish }),
    replace: (refused, response, signal, wish) =>
      access.replace(refused, response, signal, { origin: origin(), ...wish }),
    reject: (refused, response) => access.reject(refused, response),
    accept: (lease, date) => access.accept(lease, date),
    leave: (scope) => access.leave(scope),
    report: (event) => access.report(event),
    status: () => access.status(),
  }
}
