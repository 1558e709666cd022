// Types alone: the help must not wait for all of kubecred/internal.
import type { CLUSTER_FIELDS, USER_FIELDS } from 'kubecred/internal'

/** A flag as people type it. */
export interface Flag {
  readonly short?: string
  /** What stands for its value in the help; without it the flag is a switch. */
  readonly value?: string
  /** Whether it may be given more than once. */
  readonly repeats?: true
  readonly help: string
}

/** Flags of the fields of a kubeconfig: every field that is an option has one, unless it is data. */
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

/** Flags that every command takes, whether it needs them or not: they are put into aliases. */
const COMMON = {
  kubeconfig: { value: 'FILE', help: 'kubeconfig file, in place of KUBECONFIG or ~/.kube/config' },
  context: { value: 'NAME', help: 'context to use' },
  cluster: { value: 'NAME', help: 'cluster entry to use' },
  user: { value: 'NAME', help: 'user entry to use' },
  namespace: { short: 'n', value: 'NAME', help: 'namespace where one is needed' },
  server: { short: 's', value: 'URL', help: 'address of the API server' },
  'tls-server-name': { value: 'NAME', help: "name to check the server's certificate against" },
  'certificate-authority': { value: 'FILE', help: "CA of the server's certificate" },
  'insecure-skip-tls-verify': { help: "do not check the server's certificate" },
  'proxy-url': { value: 'URL', help: 'proxy to reach the server through' },
  'disable-compression': { help: 'do not ask for compressed answers' },
  'save-oidc-tokens': { help: 'write renewed OIDC tokens to the kubeconfig' },
  token: { value: 'TOKEN', help: 'bearer token; other users of the machine can see it' },
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
  kuberc: { value: 'FILE', help: 'file with the plugin policy, in place of ~/.kube/kuberc' },
  'plugin-timeout': {
    value: 'TIME',
    help: 'limit for a plugin: 60s, 10m at a terminal; 0 is none',
  },
  'refresh-on': { value: 'LIST', help: 'statuses that run the plugin again: 401 or 401,403' },
  'plugin-env': { value: 'LIST', help: 'variables that plugins may see; all unless given' },
  'request-timeout': { value: 'TIME', help: 'limit for one request: 30, 30s or 1m30s; 0 is none' },
  timeout: { value: 'TIME', help: 'limit for the whole command, plugins included' },
  v: { short: 'v', repeats: true, help: 'tell what happens; -vv or -v=2 with headers' },
  help: { short: 'h', help: 'show help' },
  version: { help: 'show the version' },
} as const satisfies Readonly<Record<string, Flag>> & FieldFlags

/** Every flag of every command: one name means the same thing everywhere. */
export const FLAGS = {
  ...COMMON,
  request: { short: 'X', value: 'METHOD', help: 'method; GET, or POST with -d' },
  data: { short: 'd', value: 'DATA', help: 'body; @FILE reads a file, @- standard input' },
  header: { short: 'H', value: "'K: V'", repeats: true, help: 'request header; repeatable' },
  include: { short: 'i', help: 'print status and headers of the answer too' },
  raw: { help: 'print the answer as it came, also on a terminal' },
  output: { short: 'o', value: 'FORMAT', help: 'json, for programs' },
  run: { help: 'run plugins to learn what only they can tell' },
  watch: { short: 'w', help: 'go on showing what changes' },
  undo: { help: 'take the change back' },
  yes: { short: 'y', help: 'do not ask' },
  ttl: { value: 'TIME', help: 'keep an answer this long, also one without an end' },
  'depends-on': {
    value: 'FILE',
    repeats: true,
    help: 'file that decides who the plugin answers for; repeatable',
  },
  port: { value: 'NUMBER', help: 'port to listen on; 0 takes a free one' },
  address: { value: 'IP', help: 'address to listen at; 127.0.0.1 unless told' },
  'allow-remote': { help: 'let --address be one that other machines can reach' },
  'unix-socket': { value: 'PATH', help: 'listen at a unix socket, in a folder of your own' },
  'accept-paths': { value: 'LIST', help: 'paths that may pass, as regular expressions' },
  'reject-paths': { value: 'LIST', help: 'paths that may not; exec and attach unless told' },
  'reject-methods': { value: 'LIST', help: 'methods that may not pass, such as POST,PUT' },
  'accept-hosts': { value: 'LIST', help: 'further names that the proxy may be called by' },
  'api-prefix': { value: 'PATH', help: 'path below which the API is; / unless told' },
  'read-only': { help: 'let only pass what changes nothing' },
  'secret-file': { value: 'FILE', help: 'take the secret from here; else it is random' },
  'tls-cert-file': {
    value: 'FILE',
    help: 'certificate of the proxy itself; read again when renewed',
  },
  'tls-key-file': { value: 'FILE', help: 'private key of that certificate' },
  'health-port': {
    value: 'NUMBER',
    help: 'serve /livez and /readyz here, for a kubelet; no secret',
  },
  'no-page': { help: 'do not serve the page' },
  'page-port': { value: 'NUMBER', help: 'port of the page; any that is free unless told' },
  'page-secret-file': { value: 'FILE', help: "take the page's secret from here" },
  metrics: { help: 'serve /metrics for Prometheus beside the page' },
  'shutdown-grace': { value: 'TIME', help: 'time for requests to finish at the end; 10s' },
  'api-version': { value: 'VERSION', help: 'v1 or v1beta1 of client.authentication.k8s.io' },
} as const satisfies Readonly<Record<string, Flag>>

export type FlagName = keyof typeof FLAGS

/** The facts about a flag, as the interface has them. */
export function flagFacts(name: FlagName): Flag {
  return FLAGS[name]
}

export function isFlagName(name: string): name is FlagName {
  return Object.hasOwn(FLAGS, name)
}

/** The names of the flags that every command takes. */
export const COMMON_FLAGS: readonly FlagName[] = Object.keys(COMMON).filter(isFlagName)
