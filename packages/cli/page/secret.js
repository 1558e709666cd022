const SECRET = /^#([A-Za-z0-9._~-]{20,200})$/

let secret

/**
 * Takes the secret out of the address bar. It stays in memory: not in the tab's history, not in a store, not in a cookie.
 * True when there was one.
 */
export function takeSecret() {
  const found = SECRET.exec(location.hash)
  if (location.hash !== '') history.replaceState(null, '', location.pathname)
  if (found === null) return false
  secret = found[1]
  return true
}

export const hasSecret = () => secret !== undefined

/** Asks the program for something, as somebody who knows the secret. */
export function ask(path, options = {}) {
  return fetch(path, {
    ...options,
    headers: { Authorization: `Bearer ${secret}` },
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
  })
}
