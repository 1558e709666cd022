/** Why the certificate at the other end was not accepted, by Node's code. */
export const UNTRUSTED: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed and not among the CAs to trust',
  SELF_SIGNED_CERT_IN_CHAIN: 'its CA is not among those to trust',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its CA is not known here',
  UNABLE_TO_GET_ISSUER_CERT: 'its CA is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its CA is not known here',
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet; check the clock of this machine',
  CERT_SIGNATURE_FAILURE: 'its signature is wrong: another CA of the same name issued it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
}

/** Why there is no connection, or no more, by Node's or undici's code. */
export const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while sending',
  ENOTFOUND: 'its name cannot be resolved',
  EAI_AGAIN: 'name resolution does not work at the moment',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_SOCKET: 'the server closed the connection',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS on this port',
  EPROTO: 'the TLS handshake failed',
}
