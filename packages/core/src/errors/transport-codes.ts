import { facts } from './code-facts.ts'

/** Codes 60 to 79: requests on their way to the server. */
export const TRANSPORT_CODES = {
  ERR_SERVER_UNREACHABLE: facts(
    60,
    'network',
    'retryable',
    'No connection to the API server could be made, or it broke.',
    'Check the server address in the kubeconfig, and your network or VPN.',
  ),
  ERR_SERVER_UNTRUSTED: facts(
    61,
    'server',
    'final',
    'The certificate of the API server was not accepted; nothing was sent to it.',
    'Check certificate-authority and tls-server-name of the cluster entry.',
  ),
  ERR_CERTIFICATE_REFUSED: facts(
    62,
    'server',
    'retryable',
    'The API server refused our client certificate during the TLS handshake.',
    'Check that the certificate has not expired and comes from a CA the server knows.',
  ),
  ERR_TOO_MANY_STREAMS: facts(
    63,
    'caller',
    'retryable',
    'As many watches and other long requests are open as one identity may have.',
    'Close streams that are no longer read, or raise policy.streamLimit.',
  ),
  ERR_FOREIGN_ORIGIN: facts(
    64,
    'caller',
    'final',
    'A request was meant for another server than the one the credential belongs to.',
    'Pass a path, or a URL of this cluster.',
  ),
  ERR_TIMED_OUT: facts(
    65,
    'network',
    'retryable',
    'The time limit of the request or of the whole command passed.',
    'Try again, or raise --request-timeout or --timeout.',
  ),
  ERR_CLOSED: facts(
    66,
    'caller',
    'final',
    'The cluster connection was used after close().',
    'Call connect() again.',
  ),
  ERR_PROXY_FAILED: facts(
    67,
    'network',
    'retryable',
    'The proxy on the way to the API server was not there, refused, or made no sense.',
    'Check proxy-url of the cluster entry, or HTTPS_PROXY and NO_PROXY in the environment.',
  ),
  ERR_CONNECTION_RETIRED: facts(
    68,
    'caller',
    'retryable',
    'A request was still open on a replaced certificate or CA when policy.drainLimitMs passed.',
    'Send it again, or raise policy.drainLimitMs; without it, such requests may go on.',
  ),
  ERR_PEER_MISSING: facts(
    69,
    'caller',
    'final',
    'A part of the library needs a package that is not installed.',
    'Install the package that the message names, or hand it over by option.',
  ),
  ERR_UPGRADE_REFUSED: facts(
    71,
    'server',
    'final',
    'The API server answered a WebSocket with an ordinary response.',
    'Look at the status and the message of the answer: it says what the server did not like.',
  ),
  ERR_SERVER_ANSWER: facts(
    72,
    'server',
    'final',
    'What answered is no API server, or one that does not keep to the API.',
    'Check the server address in the kubeconfig, and the proxy on the way.',
  ),
} as const
