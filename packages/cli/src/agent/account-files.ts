import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Environment } from 'kubecred/internal'

/** The files that decide which account a plugin uses, in the form that the agent compares. */
export interface AccountFacts {
  /** Path, modification time, size and inode of each file; missing files are listed too. */
  readonly files: readonly string[]
  /** Whether we know where this plugin keeps its account. */
  readonly isAccountKnown: boolean
}

/** Only the first files of a folder are compared, in alphabetical order. */
const MAX_FILES_IN_FOLDER = 64

/** Stats the files in which a plugin keeps its account, and those named by `--depends-on`. */
export function accountFacts(
  command: string,
  args: readonly string[],
  env: Environment,
  named: readonly string[],
): AccountFacts {
  const known = accountFiles(command, args, env)
  const paths = [...(known ?? []), ...named]
  return {
    files: [...new Set(paths)].sort().flatMap(factsOf),
    isAccountKnown: known !== undefined || named.length > 0,
  }
}

/**
 * Returns the files and folders that change when a user logs in to another account; undefined for unknown plugins.
 *
 * Files that plugins write on every run, such as caches of derived tokens, are left out: with them every answer would
 * look like a new account.
 */
export function accountFiles(
  command: string,
  args: readonly string[],
  env: Environment,
): readonly string[] | undefined {
  const home = env['HOME'] ?? '/'
  const name = basename(command).replace(/\.exe$/i, '')
  const key = name === 'kubectl' ? (args[0] ?? '') : name
  // hasOwn: a plugin named `constructor` must not find a member of Object.prototype.
  const files = Object.hasOwn(ACCOUNTS, key) ? ACCOUNTS[key] : undefined
  return files?.({
    home: (...parts) => join(home, ...parts),
    folder: (variable, ...parts) => env[variable] || join(home, ...parts),
    config: (...parts) => join(env['XDG_CONFIG_HOME'] || join(home, '.config'), ...parts),
    named: (...variables) => variables.flatMap((variable) => env[variable] || []),
  })
}

interface PathHelpers {
  home(...parts: string[]): string
  /** The path in an environment variable, or one under the home folder if the variable is not set. */
  folder(variable: string, ...parts: string[]): string
  config(...parts: string[]): string
  /** The paths in these environment variables, for those that are set. */
  named(...variables: string[]): string[]
}

type Account = (paths: PathHelpers) => string[]

const aws: Account = ({ home, folder, named }) => [
  folder('AWS_CONFIG_FILE', '.aws', 'config'),
  folder('AWS_SHARED_CREDENTIALS_FILE', '.aws', 'credentials'),
  home('.aws', 'sso', 'cache'),
  home('.aws', 'login', 'cache'),
  ...named('AWS_WEB_IDENTITY_TOKEN_FILE'),
]

const gcloud: Account = ({ folder, named }) => {
  const base = folder('CLOUDSDK_CONFIG', '.config', 'gcloud')
  return [
    join(base, 'active_config'),
    join(base, 'configurations'),
    join(base, 'credentials.db'),
    join(base, 'application_default_credentials.json'),
    ...named('GOOGLE_APPLICATION_CREDENTIALS', 'CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE'),
  ]
}

const azure: Account = ({ home, folder, named }) => {
  const base = folder('AZURE_CONFIG_DIR', '.azure')
  return [
    join(base, 'azureProfile.json'),
    join(base, 'service_principal_entries.json'),
    join(base, 'config'),
    home('.kube', 'cache', 'kubelogin'),
    ...named('AZURE_FEDERATED_TOKEN_FILE', 'AZURE_CLIENT_CERTIFICATE_PATH'),
  ]
}

const tsh: Account = ({ folder }) => {
  const base = folder('TELEPORT_HOME', '.tsh')
  return [base, join(base, 'current-profile')]
}

const oidcLogin: Account = ({ home }) => [home('.kube', 'cache', 'oidc-login')]

const ACCOUNTS: Readonly<Record<string, Account>> = {
  aws,
  'aws-iam-authenticator': aws,
  gcloud,
  'gke-gcloud-auth-plugin': gcloud,
  az: azure,
  kubelogin: (paths) => [...azure(paths), ...oidcLogin(paths)],
  'kubectl-oidc_login': oidcLogin,
  'oidc-login': oidcLogin,
  oci: ({ home, folder }) => [
    folder('OCI_CLI_CONFIG_FILE', '.oci', 'config'),
    home('.oci', 'sessions'),
  ],
  doctl: ({ home, config }) => [
    config('doctl', 'config.yaml'),
    home('Library', 'Application Support', 'doctl', 'config.yaml'),
  ],
  tsh,
  pinniped: ({ config }) => [config('pinniped', 'sessions.yaml')],
  rancher: ({ home }) => [home('.rancher', 'cli2.json')],
}

/** Includes the files of a folder: rewriting one of them does not change the folder itself. */
function factsOf(path: string): string[] {
  const facts = statSync(path, { throwIfNoEntry: false, bigint: true })
  if (facts === undefined) return [`${path}\0`]
  const line = `${path}\0${facts.mtimeNs} ${facts.size} ${facts.ino}`
  if (!facts.isDirectory()) return [line]
  return [line, ...filesIn(path).flatMap(plainFacts)]
}

function filesIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).sort()
    return names.slice(0, MAX_FILES_IN_FOLDER).map((name) => join(folder, name))
  } catch {
    return []
  }
}

function plainFacts(path: string): string[] {
  const facts = statSync(path, { throwIfNoEntry: false, bigint: true })
  return facts?.isFile() ? [`${path}\0${facts.mtimeNs} ${facts.size} ${facts.ino}`] : []
}
