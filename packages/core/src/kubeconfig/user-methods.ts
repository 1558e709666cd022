import type { UserEntry } from './kubeconfig.ts'

/** Whether something is configured that fills the Authorization header without a plugin. */
export function hasHeaderMethod(user: UserEntry): boolean {
  return [user.token, user.tokenFile, user.username].some((method) => method !== undefined)
}

/** Whether a client certificate is configured, with or without its key. */
export function hasCertificate(user: UserEntry): boolean {
  return user.clientCertificate !== undefined || user.clientCertificateData !== undefined
}

/** Whether a client key is configured. */
export function hasKey(user: UserEntry): boolean {
  return user.clientKey !== undefined || user.clientKeyData !== undefined
}

/** Whether something is configured that takes precedence over a plugin: client-go's rule. */
export function hasStaticMethod(user: UserEntry): boolean {
  return hasHeaderMethod(user) || (hasCertificate(user) && hasKey(user))
}

/** Whether the user is anything but anonymous. */
export function hasAnyMethod(user: UserEntry): boolean {
  return (
    hasHeaderMethod(user) ||
    hasCertificate(user) ||
    user.exec !== undefined ||
    user.authProvider !== undefined
  )
}
