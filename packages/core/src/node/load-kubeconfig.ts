import { accessSync, constants, existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import nodePath from 'node:path'
import process from 'node:process'
import {
  type CredentialError,
  isCredentialError,
  KubeconfigEmptyError,
  KubeconfigInvalidError,
  KubeconfigNotFoundError,
  KubeconfigSyntaxError,
  KubeconfigUnreadableError,
} from '../errors/index.ts'
import type { Environment } from '../formats/plain-object.ts'
import {
  buildConnection,
  buildSelectedConnection,
  type Surroundings,
} from '../kubeconfig/build-connection.ts'
import type { Connection } from '../kubeconfig/connection.ts'
import {
  inClusterConfig,
  isInPod,
  type Pod,
  SERVICE_ACCOUNT_FOLDER,
} from '../kubeconfig/in-cluster.ts'
import { type Kubeconfig, mergeKubeconfigs } from '../kubeconfig/kubeconfig.ts'
import type { Overrides } from '../kubeconfig/overrides.ts'
import {
  type FolderFacts,
  type Paths,
  splitKubeconfigList,
  windowsHome,
} from '../kubeconfig/paths.ts'
import { nodeFiles, readBoundedFile } from './node-files.ts'

/** Where to look for configuration, and what flags say. */
export interface LoadOptions {
  /** One or several explicit files, which must exist; KUBECONFIG and the home folder are not looked at then. */
  readonly kubeconfig?: string | readonly string[] | undefined
  readonly overrides?: Overrides | undefined
  readonly env: Environment
  /** What relative paths given by flags or KUBECONFIG start from. */
  readonly cwd?: string | undefined
  readonly home?: string | undefined
  /** Reads a kubeconfig file in place of the disk. */
  readonly readFile?: ReadFile | undefined
  readonly serviceAccountFolder?: string | undefined
}

/**
 * Finds the configuration as kubectl does and makes a connection from it.
 *
 * Explicit files, else KUBECONFIG, else `~/.kube/config`; if none of them says which cluster, the service
 * account of the pod. No plugin runs and no request is sent.
 *
 * @throws {CredentialError} Names file, entry and remedy.
 */
export async function loadConnection(options: LoadOptions): Promise<Connection> {
  const cwd = options.cwd ?? process.cwd()
  const { places, configs, merged, missing } = await readKubeconfigs(options)
  const pod = await findPod(options)
  const isLost = places.from === 'KUBECONFIG' && missing.length > 0 && configs.length === 0
  const lost = `KUBECONFIG names only files that do not exist: ${missing.join(', ')}`
  const files = isLost ? lost : `looked in ${places.files.join(', ') || 'no file'}`
  // Somebody in a pod means its account: that it was not mounted is what they have to know.
  const isUnmounted = pod === undefined && isInPod(options.env)
  const account = options.serviceAccountFolder ?? SERVICE_ACCOUNT_FOLDER
  const looked = isUnmounted ? `${files}; no service account is mounted at ${account}` : files
  const connection = connect(merged, options.overrides ?? {}, pod, surroundings(cwd, pod, looked))
  return isLost ? { ...connection, warnings: [`${lost}.`, ...connection.warnings] } : connection
}

/** The files that say something, as they are, and those that do not exist. */
export interface FoundKubeconfigs extends KubeconfigsRead {
  readonly places: Places
  /** All of them as one, as kubectl merges them. */
  readonly merged: Kubeconfig
}

/**
 * Finds and reads the files, and makes nothing of them yet.
 *
 * @throws {CredentialError} When one of them cannot be read; an explicit one must exist too.
 */
export async function readKubeconfigs(options: LoadOptions): Promise<FoundKubeconfigs> {
  const places = kubeconfigLocations(options, options.cwd ?? process.cwd())
  const absent = places.from === 'flag' ? 'an error' : 'skipped'
  const readFile = options.readFile ?? readerFor(places)
  const read = await readKubeconfigFiles(places.files, absent, readFile)
  return { places, ...read, merged: mergeKubeconfigs(read.configs) }
}

interface PodOptions extends Pick<LoadOptions, 'env' | 'serviceAccountFolder'> {
  /** A pod certificate to use in place of the account's token. */
  readonly credentialBundle?: string
}

/**
 * The connection of the pod we run in, whatever a kubeconfig says; undefined where neither account nor certificate is
 * mounted.
 */
export async function loadPodConnection(options: PodOptions): Promise<Connection | undefined> {
  const pod = await findPod(options)
  if (pod === undefined) return undefined
  return buildSelectedConnection(pod.selection, {}, surroundings(process.cwd(), pod))
}

export function surroundings(cwd: string, pod: Pod | undefined, looked?: string): Surroundings {
  const { sep: separator, isAbsolute, join, dirname } = nodePath
  const paths = { separator, isAbsolute, join, dirname }
  return { paths, cwd, podNamespace: pod?.namespace, looked }
}

function connect(
  config: Kubeconfig,
  overrides: Overrides,
  pod: Pod | undefined,
  surroundings: Surroundings,
): Connection {
  try {
    return buildConnection(config, overrides, surroundings)
  } catch (error) {
    // Only a configuration that says nothing gives way to the pod; a broken one is an error there too.
    if (pod === undefined || !(error instanceof KubeconfigEmptyError)) throw error
    return buildSelectedConnection(pod.selection, overrides, surroundings)
  }
}

export interface Places {
  readonly from: 'flag' | 'KUBECONFIG' | 'home'
  /** Absolute paths, in order of precedence. */
  readonly files: readonly string[]
}

/** The files to look in: explicit ones, else those of KUBECONFIG, else the one in the home folder. */
export function kubeconfigLocations(options: LoadOptions, cwd: string): Places {
  const absolute = (file: string): string => nodePath.resolve(cwd, file)
  const { kubeconfig } = options
  const explicit = [kubeconfig ?? []].flat().filter((file) => file !== '')
  // No file at all is a choice, too.
  const isNone = Array.isArray(kubeconfig) && kubeconfig.length === 0
  if (explicit.length > 0 || isNone)
    return { from: 'flag', files: [...new Set(explicit.map(absolute))] }
  const list = options.env['KUBECONFIG']
  if (list) {
    const files = splitKubeconfigList(list, nodePath.delimiter).map(absolute)
    return { from: 'KUBECONFIG', files }
  }
  // Without a home, client-go reads .kube/config in the current folder, which anybody may have put there.
  const home = options.home ?? homeFolder(options.env)
  return { from: 'home', files: home ? [nodePath.join(home, '.kube', 'config')] : [] }
}

/** Reads a kubeconfig that is a file, and no pipe: that could not be read again. */
export const readRegularKubeconfig: ReadFile = (path) =>
  readBoundedFile(path, { mostBytes: MAX_KUBECONFIG_BYTES, pipes: 'refused' })

function readerFor(places: Places): ReadFile {
  const pipes = places.from === 'flag' ? 'allowed' : 'refused'
  return (path) => readBoundedFile(path, { mostBytes: MAX_KUBECONFIG_BYTES, pipes })
}

function homeFolder(env: LoadOptions['env']): string | undefined {
  return process.platform === 'win32' ? windowsHome(env, lookAt) : env['HOME']
}

function lookAt(folder: string): FolderFacts {
  return {
    exists: existsSync(folder),
    writable: isWritable(folder),
    hasKubeconfig: existsSync(nodePath.join(folder, '.kube', 'config')),
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

async function findPod({
  env,
  serviceAccountFolder,
  credentialBundle,
}: PodOptions): Promise<Pod | undefined> {
  if (!isInPod(env)) return undefined
  if (credentialBundle !== undefined && !(await isOtherThanFolder(credentialBundle)))
    return undefined
  const folder = serviceAccountFolder ?? SERVICE_ACCOUNT_FOLDER
  const tokenFile = nodePath.join(folder, 'token')
  const caFile = nodePath.join(folder, 'ca.crt')
  return inClusterConfig(env, {
    tokenFile: (await isOtherThanFolder(tokenFile)) ? tokenFile : undefined,
    credentialBundle,
    caFile,
    ca: await readIfPossible(caFile),
    namespace: await readIfPossible(nodePath.join(folder, 'namespace')),
  })
}

async function isOtherThanFolder(path: string): Promise<boolean> {
  const facts = await stat(path).catch(() => undefined)
  return facts !== undefined && !facts.isDirectory()
}

function readIfPossible(path: string): Promise<string | undefined> {
  return nodeFiles.read(path).catch(() => undefined)
}

/** A kubeconfig is some kilobytes; ten thousand contexts, each with certificates of its own, are forty megabytes. */
export const MAX_KUBECONFIG_BYTES = 64 * 1024 * 1024

/** Reads the bytes of one file; errors carry Node's `code`. */
export type ReadFile = (path: string) => Promise<Uint8Array>

/** What became of a list of kubeconfig files. */
export interface KubeconfigsRead {
  readonly configs: readonly Kubeconfig[]
  /** Files that do not exist, where that is no error. */
  readonly missing: readonly string[]
}

/**
 * Reads and parses kubeconfig files, all of them even if one is broken, so that every mistake is told at once.
 *
 * @param absent Whether a file that does not exist is skipped or an error.
 * @throws {CredentialError} The one error, or one with an `AggregateError` as its cause.
 */
export async function readKubeconfigFiles(
  paths: readonly string[],
  absent: 'skipped' | 'an error',
  readFile: ReadFile,
): Promise<KubeconfigsRead> {
  const configs: Kubeconfig[] = []
  const missing: string[] = []
  const errors: CredentialError[] = []
  const outcomes = await Promise.all(paths.map((path) => readOne(path, readFile)))
  for (const outcome of outcomes) {
    if (!(outcome instanceof Error)) configs.push(outcome)
    else if (absent === 'skipped' && outcome instanceof KubeconfigNotFoundError) {
      missing.push(outcome.path)
    } else errors.push(outcome)
  }
  throwErrors(errors)
  return { configs, missing }
}

async function readOne(path: string, readFile: ReadFile): Promise<Kubeconfig | CredentialError> {
  try {
    const text = decodeText(await readFile(path), path)
    // Loaded when used: a program with login handlers, or in a pod, reads no YAML.
    const { parseKubeconfigText } = await import('../kubeconfig/parse-kubeconfig.ts')
    return parseKubeconfigText(text, path)
  } catch (error) {
    if (isCredentialError(error)) return error
    return describeReadError(path, error)
  }
}

function throwErrors(errors: readonly CredentialError[]): void {
  const [first, ...others] = errors
  if (first === undefined) return
  if (others.length === 0) throw first
  throw new KubeconfigInvalidError(
    errors.map((error) => error.message),
    {
      hint: [...new Set(errors.map((error) => error.hint))].join(' '),
      cause: new AggregateError(errors),
    },
  )
}

/** Reads UTF-8, with or without a byte order mark, and the UTF-16 that `>` writes in PowerShell. */
function decodeText(bytes: Uint8Array, path: string): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8'
  const text = tryDecode(bytes, encoding)
  if (text === undefined) {
    throw new KubeconfigSyntaxError(path, 'it is not UTF-8 text', {
      hint: 'Save the file as UTF-8; a letter with an accent in Latin-1 is enough to break it.',
    })
  }
  if (text.includes('\0')) {
    throw new KubeconfigSyntaxError(path, 'it is a binary file, not text', {
      hint: 'Check that the path names a kubeconfig.',
    })
  }
  return text
}

function tryDecode(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'your user may not read it',
  EPERM: 'your user may not read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  ELOOP: 'its symbolic links lead in a circle',
  ENAMETOOLONG: 'its path is too long',
  ENOTSUP: 'it is not a regular file',
  ENXIO: 'it is a socket or a device',
  EFBIG: 'it is larger than any kubeconfig (64 MiB)',
  EIO: 'the disk reported an error',
}

function describeReadError(path: string, error: unknown): CredentialError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return new KubeconfigNotFoundError(path, { cause: error })
  const reason = REASONS[code] ?? `the system says ${code || 'nothing more'}`
  return new KubeconfigUnreadableError(path, reason, { cause: error })
}

/** Paths of this machine, for those who read kubeconfigs. */
export const NODE_PATHS: Paths = {
  separator: nodePath.sep,
  isAbsolute: nodePath.isAbsolute,
  join: nodePath.join,
  dirname: nodePath.dirname,
}
