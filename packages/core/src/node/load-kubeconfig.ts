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
  type BuildContext,
  buildConnection,
  buildSelectedConnection,
} from '../kubeconfig/build-connection.ts'
import type { Connection } from '../kubeconfig/connection.ts'
import {
  inClusterConfig,
  isInPod,
  type Pod,
  SERVICE_ACCOUNT_FOLDER,
} from '../kubeconfig/in-cluster.ts'
import {
  checkKubeconfigOption,
  GIVEN_KUBECONFIG,
  isInlineKubeconfig,
  isKubeconfigText,
  type KubeconfigObject,
  type KubeconfigOption,
  type KubeconfigText,
} from '../kubeconfig/inline-kubeconfig.ts'
import { type Kubeconfig, mergeKubeconfigs } from '../kubeconfig/kubeconfig.ts'
import type { Overrides } from '../kubeconfig/overrides.ts'
import {
  type FolderFacts,
  type Paths,
  splitKubeconfigList,
  windowsHome,
} from '../kubeconfig/paths.ts'
import { withSystemNames } from './environment.ts'
import { nodeFiles, readBoundedFile } from './node-files.ts'

/** Where to look for kubeconfig files, and overrides. */
export interface LoadOptions {
  /** One or several explicit files, which must exist, or a kubeconfig itself. KUBECONFIG and the home folder are then ignored. */
  readonly kubeconfig?: KubeconfigOption | undefined
  readonly overrides?: Overrides | undefined
  readonly env: Environment
  /** The base of relative paths in options and KUBECONFIG. */
  readonly cwd?: string | undefined
  readonly home?: string | undefined
  /** Replaces reading from disk. */
  readonly readFile?: ReadFile | undefined
  readonly serviceAccountFolder?: string | undefined
}

/**
 * Finds the configuration as kubectl does and builds a connection from it.
 *
 * It uses explicit files, else KUBECONFIG, else `~/.kube/config`; if these select no cluster, the service account of
 * the pod. No plugin runs and no request is sent.
 *
 * @throws {CredentialError} An `ERR_KUBECONFIG_…` or `ERR_…_NOT_FOUND` error that names the file and the entry.
 */
export async function loadConnection(options: LoadOptions): Promise<Connection> {
  const cwd = options.cwd ?? process.cwd()
  const { places: locations, configs, merged, missing } = await readKubeconfigs(options)
  const pod = await findPod(options)
  const isAllMissing = locations.from === 'KUBECONFIG' && missing.length > 0 && configs.length === 0
  const allMissing = `KUBECONFIG names only files that do not exist: ${missing.join(', ')}`
  const where =
    locations.from === 'option' ? GIVEN_KUBECONFIG : locations.files.join(', ') || 'no file'
  const files = isAllMissing ? allMissing : `looked in ${where}`
  // In a pod, the service account is expected: the error must say that it is not mounted.
  const isUnmounted = pod === undefined && isInPod(options.env)
  const account = options.serviceAccountFolder ?? SERVICE_ACCOUNT_FOLDER
  const looked = isUnmounted ? `${files}; no service account is mounted at ${account}` : files
  const connection = connect(merged, options.overrides ?? {}, pod, buildContext(cwd, pod, looked))
  if (!isAllMissing) return connection
  return { ...connection, warnings: [`${allMissing}.`, ...connection.warnings] }
}

/** The kubeconfig files that were found and read, and those that do not exist. */
export interface FoundKubeconfigs extends ParsedKubeconfigs {
  readonly places: Places
  /** All files merged, as kubectl does. */
  readonly merged: Kubeconfig
}

/**
 * Finds, reads and merges the kubeconfig files, without selecting entries.
 *
 * @throws {CredentialError} A file cannot be read or parsed, or an explicit one does not exist.
 * @throws {TypeError} If `kubeconfig` is neither paths nor a kubeconfig.
 */
export async function readKubeconfigs(options: LoadOptions): Promise<FoundKubeconfigs> {
  const { kubeconfig, cwd = process.cwd() } = options
  checkKubeconfigOption(kubeconfig)
  const places = kubeconfigLocations(options, cwd)
  if (isInlineKubeconfig(kubeconfig)) {
    const merged = await readInline(kubeconfig, cwd)
    return { places, configs: [merged], missing: [], merged }
  }
  const absent = places.from === 'flag' ? 'an error' : 'skipped'
  const readFile = options.readFile ?? readerFor(places)
  const read = await readKubeconfigFiles(places.files, absent, readFile)
  return { places, ...read, merged: mergeKubeconfigs(read.configs) }
}

async function readInline(
  kubeconfig: KubeconfigText | KubeconfigObject,
  cwd: string,
): Promise<Kubeconfig> {
  const folder = isKubeconfigText(kubeconfig) ? kubeconfig.folder : undefined
  const { parseInlineKubeconfig } = await import('../kubeconfig/parse-kubeconfig.ts')
  return parseInlineKubeconfig(kubeconfig, folder && nodePath.resolve(cwd, folder))
}

interface PodOptions extends Pick<LoadOptions, 'env' | 'serviceAccountFolder'> {
  /** A pod certificate to use instead of the token of the service account. */
  readonly credentialBundle?: string
}

/**
 * Returns the connection of the pod that this process runs in, and ignores kubeconfigs; undefined if neither a service
 * account nor a pod certificate is mounted.
 */
export async function loadPodConnection(options: PodOptions): Promise<Connection | undefined> {
  const pod = await findPod(options)
  if (pod === undefined) return undefined
  return buildSelectedConnection(pod.selection, {}, buildContext(process.cwd(), pod))
}

/** Returns what `buildConnection` needs to know about this machine. */
export function buildContext(cwd: string, pod: Pod | undefined, looked?: string): BuildContext {
  const { sep: separator, isAbsolute, join, dirname } = nodePath
  const paths = { separator, isAbsolute, join, dirname }
  return { paths, cwd, podNamespace: pod?.namespace, looked }
}

function connect(
  config: Kubeconfig,
  overrides: Overrides,
  pod: Pod | undefined,
  surroundings: BuildContext,
): Connection {
  try {
    return buildConnection(config, overrides, surroundings)
  } catch (error) {
    // Only an empty configuration falls back to the pod; an invalid one is an error there too.
    if (pod === undefined || !(error instanceof KubeconfigEmptyError)) throw error
    return buildSelectedConnection(pod.selection, overrides, surroundings)
  }
}

/** Where kubeconfig files are looked for. */
export interface Places {
  /** `option` is a kubeconfig that was passed as text or object. */
  readonly from: 'flag' | 'option' | 'KUBECONFIG' | 'home'
  /** Absolute paths, in order of precedence. */
  readonly files: readonly string[]
}

/** Returns the kubeconfig files to read: explicit ones, else those of KUBECONFIG, else the one in the home folder. */
export function kubeconfigLocations(options: LoadOptions, cwd: string): Places {
  const absolute = (file: string): string => nodePath.resolve(cwd, file)
  const { kubeconfig } = options
  if (isInlineKubeconfig(kubeconfig)) return { from: 'option', files: [] }
  const explicit = [kubeconfig ?? []].flat().filter((file) => file !== '')
  // An empty list is explicit: no file is read.
  const isNone = Array.isArray(kubeconfig) && kubeconfig.length === 0
  if (explicit.length > 0 || isNone)
    return { from: 'flag', files: [...new Set(explicit.map(absolute))] }
  const list = withSystemNames(options.env)['KUBECONFIG']
  if (list) {
    const files = splitKubeconfigList(list, nodePath.delimiter).map(absolute)
    return { from: 'KUBECONFIG', files }
  }
  // Without a home, client-go reads .kube/config in the current folder, where other users may be able to write.
  const home = options.home ?? homeFolder(options.env)
  return { from: 'home', files: home ? [nodePath.join(home, '.kube', 'config')] : [] }
}

/** Reads a kubeconfig that is a regular file; a pipe could not be read a second time. */
export const readRegularKubeconfig: ReadFile = (path) =>
  readBoundedFile(path, { maxBytes: MAX_KUBECONFIG_BYTES, pipes: 'refused' })

function readerFor(places: Places): ReadFile {
  const pipes = places.from === 'flag' ? 'allowed' : 'refused'
  return (path) => readBoundedFile(path, { maxBytes: MAX_KUBECONFIG_BYTES, pipes })
}

/** Returns the home folder of the user, as client-go chooses it. */
export function homeFolder(env: Environment): string | undefined {
  if (process.platform !== 'win32') return env['HOME']
  return windowsHome(withSystemNames(env), inspectFolder)
}

function inspectFolder(folder: string): FolderFacts {
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
  if (credentialBundle !== undefined && !(await existsAndIsNotFolder(credentialBundle)))
    return undefined
  const folder = serviceAccountFolder ?? SERVICE_ACCOUNT_FOLDER
  const tokenFile = nodePath.join(folder, 'token')
  const caFile = nodePath.join(folder, 'ca.crt')
  return inClusterConfig(env, {
    tokenFile: (await existsAndIsNotFolder(tokenFile)) ? tokenFile : undefined,
    credentialBundle,
    caFile,
    ca: await readIfPossible(caFile),
    namespace: await readIfPossible(nodePath.join(folder, 'namespace')),
  })
}

async function existsAndIsNotFolder(path: string): Promise<boolean> {
  const facts = await stat(path).catch(() => undefined)
  return facts !== undefined && !facts.isDirectory()
}

function readIfPossible(path: string): Promise<string | undefined> {
  return nodeFiles.read(path).catch(() => undefined)
}

/** Ten thousand contexts with their own certificates are about 40 MB. */
export const MAX_KUBECONFIG_BYTES = 64 * 1024 * 1024

/** Reads the bytes of one file; rejects with errors that have Node's `code`. */
export type ReadFile = (path: string) => Promise<Uint8Array>

/** Parsed kubeconfig files. */
export interface ParsedKubeconfigs {
  readonly configs: readonly Kubeconfig[]
  /** Files that do not exist and were skipped. */
  readonly missing: readonly string[]
}

/**
 * Reads and parses kubeconfig files: all of them, even if one is invalid, so that all errors are reported at once.
 *
 * @param absent Whether a file that does not exist is skipped or an error.
 * @throws {CredentialError} The error of the only invalid file, or `ERR_KUBECONFIG_INVALID` with an `AggregateError` as
 *   its cause.
 */
export async function readKubeconfigFiles(
  paths: readonly string[],
  absent: 'skipped' | 'an error',
  readFile: ReadFile,
): Promise<ParsedKubeconfigs> {
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
    // Loaded on demand: a program with login handlers, or in a pod, needs no YAML parser.
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

/** Decodes UTF-8, with or without a byte order mark, and UTF-16LE, which `>` writes in PowerShell. */
function decodeText(bytes: Uint8Array, path: string): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8'
  const text = tryDecode(bytes, encoding)
  if (text === undefined) {
    throw new KubeconfigSyntaxError(path, 'it is not UTF-8 text', {
      hint: 'Save the file as UTF-8; a single accented letter in Latin-1 makes it invalid.',
    })
  }
  if (text.includes('\0')) {
    throw new KubeconfigSyntaxError(path, 'it is a binary file, not text', {
      hint: 'Check that the path is that of a kubeconfig.',
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
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  ELOOP: 'its symbolic links form a loop',
  ENAMETOOLONG: 'its path is too long',
  ENOTSUP: 'it is not a regular file',
  ENXIO: 'it is a socket or a device',
  EFBIG: 'it is larger than 64 MiB',
  EIO: 'I/O error',
}

function describeReadError(path: string, error: unknown): CredentialError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return new KubeconfigNotFoundError(path, { cause: error })
  const reason = REASONS[code] ?? `unexpected error ${code || 'without a code'}`
  return new KubeconfigUnreadableError(path, reason, { cause: error })
}

/** The path functions of this platform. */
export const NODE_PATHS: Paths = {
  separator: nodePath.sep,
  isAbsolute: nodePath.isAbsolute,
  join: nodePath.join,
  dirname: nodePath.dirname,
}
