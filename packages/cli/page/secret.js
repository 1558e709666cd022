const SECRET = /^#([A-Za-z0-9._~-]{20,200})$/

let secret

/**
 * Moves the secret from the address bar to memory, so that it is not in the tab's history, storage or a cookie.
 * Returns whether there was one.
 */
export function takeSecret() {
  const found = SECRET.exec(location.hash)
  if (location.hash !== '') history.replaceState(null, '', location.pathname)
  if (found === null) return false
  secret = found[1]
  return true
}

export const hasSecret = () => secret !== undefined

/** Sends a request with the secret to the program. */
export function ask(path, options = {}) {
  return fetch(path, {
    ...options,
    headers: { Authorization: `Bearer ${secret}` },
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
  })
}
