// Types only: the help must not load all of kubecred/internal.
import type { CLUSTER_FIELDS, USER_FIELDS } from 'kubecred/internal'

/** A command-line flag. */
export interface Flag {
  readonly short?: string
  /** The placeholder for its value in the help; a flag without it is boolean. */
  readonly value?: string
  /** Whether it may be given more than once. */
  readonly repeats?: true
  readonly help: string
}

/** The flags for kubeconfig fields: every field that is an option has one, except inline data. */
type FieldFlags = Readonly<Record<FlagOf<typeof CLUSTER_FIELDS> | FlagOf<typeof USER_FIELDS>, Flag>>
type FlagOf<T> = {
  [N in keyof T]: T[N] extends { readonly kind: 'data' }
    ? never
    : T[N] extends { readonly option: true; readonly flag: infer Name }
      ? Name
      : T[N] extends { readonly option: true; readonly key: infer Key }
        ? Key
        : never
}[keyof T] &
  string

/** Flags that every command accepts, even if it does not use them, so that they can be part of a shell alias. */
const GLOBAL = {
  kubeconfig: {
    value: 'FILE',
    help: 'kubeconfig file, instead of KUBECONFIG or ~/.kube/config',
  },
  context: { value: 'NAME', help: 'context to use' },
  cluster: { value: 'NAME', help: 'cluster entry to use' },
  user: { value: 'NAME', help: 'user entry to use' },
  namespace: { short: 'n', value: 'NAME', help: 'namespace to use' },
  server: { short: 's', value: 'URL', help: 'address of the API server' },
  'tls-server-name': { value: 'NAME', help: "host name to verify the server's certificate with" },
  'certificate-authority': { value: 'FILE', help: "CA file for the server's certificate" },
  'insecure-skip-tls-verify': { help: "do not verify the server's certificate" },
  'proxy-url': { value: 'URL', help: 'proxy to use for requests to the server' },
  'disable-compression': { help: 'do not request compressed responses' },
  'save-oidc-tokens': { help: 'write renewed OIDC tokens to the kubeconfig' },
  token: { value: 'TOKEN', help: 'bearer token; visible to other users of this machine' },
  username: { value: 'NAME', help: 'user name for basic authentication' },
  password: { value: 'TEXT', help: 'password for basic authentication' },
  'client-certificate': { value: 'FILE', help: 'client certificate' },
  'client-key': { value: 'FILE', help: 'private key of the client certificate' },
  as: { value: 'USER', help: 'user to impersonate' },
  'as-uid': { value: 'UID', help: 'UID to impersonate' },
  'as-group': { value: 'GROUP', repeats: true, help: 'group to impersonate; repeatable' },
  'as-user-extra': {
    value: 'KEY=VALUE',
    repeats: true,
    help: 'extra field to impersonate; repeatable',
  },
  kuberc: { value: 'FILE', help: 'file with the plugin policy, instead of ~/.kube/kuberc' },
  'plugin-timeout': {
    value: 'TIME',
    help: 'limit per plugin (default 60s, 10m at a terminal; 0 is none)',
  },
  'refresh-on': {
    value: 'LIST',
    help: 'statuses that run the plugin again: 401 (default) or 401,403',
  },
  'plugin-env': { value: 'LIST', help: 'environment variables passed to plugins (default all)' },
  'request-timeout': {
    value: 'TIME',
    help: 'time limit for one request: 30, 30s or 1m30s; 0 is none',
  },
  timeout: { value: 'TIME', help: 'time limit for the whole command, including plugins' },
  v: { short: 'v', repeats: true, help: 'log what happens; -vv or -v=2 also logs headers' },
  help: { short: 'h', help: 'show help' },
  version: { help: 'show the version' },
} as const satisfies Readonly<Record<string, Flag>> & FieldFlags

/** Every flag of every command: a name means the same thing everywhere. */
export const FLAGS = {
  ...GLOBAL,
  request: { short: 'X', value: 'METHOD', help: 'HTTP method (default GET, or POST with -d)' },
  data: { short: 'd', value: 'DATA', help: 'request body; @FILE reads a file, @- standard input' },
  header: { short: 'H', value: "'K: V'", repeats: true, help: 'request header; repeatable' },
  include: { short: 'i', help: 'print the status line and headers of the response too' },
  raw: { help: 'print the response unchanged, also on a terminal' },
  output: { short: 'o', value: 'FORMAT', help: 'output format: json' },
  run: { help: 'run plugins to get credentials and their expiry' },
  watch: { short: 'w', help: 'watch for changes and show them' },
  undo: { help: 'undo the change' },
  yes: { short: 'y', help: 'do not ask for confirmation' },
  ttl: {
    value: 'TIME',
    help: 'keep answers this long at most, also those without expiry',
  },
  'depends-on': {
    value: 'FILE',
    repeats: true,
    help: 'file that decides which account the plugin uses; repeatable',
  },
  port: { value: 'NUMBER', help: 'port to listen on (default 8001; 0 means any free port)' },
  address: { value: 'IP', help: 'IP address to listen on (default 127.0.0.1)' },
  'allow-remote': { help: 'allow an --address that other machines can reach' },
  'unix-socket': { value: 'PATH', help: 'listen on a Unix socket, in a folder that only you own' },
  'accept-paths': { value: 'LIST', help: 'regular expressions of paths to accept' },
  'reject-paths': {
    value: 'LIST',
    help: 'regular expressions of paths to reject (default exec/attach)',
  },
  'reject-methods': { value: 'LIST', help: 'HTTP methods to reject, such as POST,PUT' },
  'accept-hosts': { value: 'LIST', help: 'additional host names to accept' },
  'api-prefix': { value: 'PATH', help: 'path prefix to serve the API under (default /)' },
  'read-only': { help: 'accept only requests that change nothing' },
  'secret-file': {
    value: 'FILE',
    help: 'file with the secret, reloaded on changes (default random)',
  },
  'authenticate-callers': {
    help: 'callers send their own tokens, which the API server reviews',
  },
  'accept-callers': {
    value: 'LIST',
    help: 'service accounts that may use it, such as shop/web,jobs/*',
  },
  'caller-audiences': {
    value: 'LIST',
    help: 'audiences; a token needs one (default the API server)',
  },
  'impersonate-callers': { help: 'send each request with the rights and name of its caller' },
  'tls-cert-file': {
    value: 'FILE',
    help: 'TLS certificate of the proxy; reloaded when it changes',
  },
  'tls-key-file': { value: 'FILE', help: 'private key of that certificate' },
  'health-port': {
    value: 'NUMBER',
    help: 'port for /livez and /readyz, for probes; needs no secret',
  },
  'no-page': { help: 'do not serve the status page' },
  'page-port': { value: 'NUMBER', help: 'port of the status page (default any free port)' },
  'page-secret-file': { value: 'FILE', help: 'file with the secret of the status page' },
  metrics: {
    help: 'serve /metrics with the page, else on --health-port',
  },
  'log-format': {
    value: 'FORMAT',
    help: 'access log on standard output: text or json (default none)',
  },
  'shutdown-delay': {
    value: 'TIME',
    help: 'time to keep serving, not ready, after SIGTERM (default 0)',
  },
  'shutdown-grace': { value: 'TIME', help: 'time for open requests to finish (default 10s)' },
  'api-version': {
    value: 'VERSION',
    help: 'v1 (default) or v1beta1 of client.authentication.k8s.io',
  },
} as const satisfies Readonly<Record<string, Flag>>

export type FlagName = keyof typeof FLAGS

/** Returns the description of a flag. */
export function flagFacts(name: FlagName): Flag {
  return FLAGS[name]
}

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(FLAGS, name)
}

/** The names of the flags that every command accepts. */
export const GLOBAL_FLAGS: readonly FlagName[] = Object.keys(GLOBAL).filter(isFlagName)
