/** TLS alerts that say: your certificate, not your request. */
const REFUSALS =
  /ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_REVOKED|CERTIFICATE_EXPIRED|CERTIFICATE_UNKNOWN|CERTIFICATE_REQUIRED|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE)/

/** The alert by which a server refused our certificate, or undefined. */
export function readAlert(error: unknown): string | undefined {
  const { code = '' } = (error ?? {}) as { code?: string }
  return REFUSALS.exec(code)?.[0].slice('ALERT_'.length).toLowerCase().replaceAll('_', ' ')
}

/**
 * Says what such an alert means if it came before the server could have seen a certificate of ours: nothing about it.
 *
 * @returns The error as it was, if it is no alert.
 */
export function explainEarlyAlert(error: unknown): unknown {
  const alert = readAlert(error)
  if (alert === undefined) return error
  const message = `it ended the TLS handshake with the alert "${alert}" before it was shown a certificate`
  return new Error(message, { cause: error })
}
