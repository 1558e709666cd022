import { checkOptionNames } from '../errors/option-names.ts'
import { describeType, isFields } from '../formats/plain-object.ts'

/** A kubeconfig as a string, for `connect({ kubeconfig })`. */
export interface KubeconfigText {
  /** YAML or JSON, as in a kubeconfig file. */
  readonly text: string
  /** The folder that relative paths in it resolve against. Without it a relative path is an error. */
  readonly folder?: string | undefined
}

/**
 * A parsed kubeconfig, for `connect({ kubeconfig })`: what a YAML parser returns for a kubeconfig file.
 *
 * Relative paths in it are an error.
 */
export interface KubeconfigObject {
  readonly apiVersion?: string | undefined
  readonly kind?: string | undefined
  readonly clusters?: readonly unknown[] | null | undefined
  readonly contexts?: readonly unknown[] | null | undefined
  readonly users?: readonly unknown[] | null | undefined
  readonly 'current-context'?: string | undefined
  readonly preferences?: unknown
  readonly extensions?: readonly unknown[] | null | undefined
}

/** What the option `kubeconfig` takes: the path of a file, several paths, or a kubeconfig itself. */
export type KubeconfigOption = string | readonly string[] | KubeconfigText | KubeconfigObject

/** Marks entries of a kubeconfig that was passed as text or object instead of a file. */
export interface Inline {
  /** Absolute; undefined if relative paths cannot be resolved. */
  readonly folder: string | undefined
}

/** What messages call a kubeconfig that was passed as text or object. */
export const GIVEN_KUBECONFIG = 'the given kubeconfig'

/** Whether the option holds a kubeconfig itself instead of paths. */
export function isInlineKubeconfig(
  option: KubeconfigOption | undefined,
): option is KubeconfigText | KubeconfigObject {
  return typeof option === 'object' && option !== null && !Array.isArray(option)
}

/** Whether a kubeconfig is passed as text. */
export function isKubeconfigText(
  option: KubeconfigText | KubeconfigObject,
): option is KubeconfigText {
  return 'text' in option
}

const TEXT_FIELDS: readonly (keyof KubeconfigText)[] = ['text', 'folder']
const OBJECT_KEYS = ['clusters', 'contexts', 'users', 'current-context']

/** @throws {TypeError} If the option `kubeconfig` has a value of another type. Says what came, without its content. */
export function checkKubeconfigOption(option: unknown): void {
  if (option === undefined || typeof option === 'string') return
  if (Array.isArray(option) && option.every((each) => typeof each === 'string')) return
  if (isPlainObject(option)) {
    if (Object.hasOwn(option, 'text')) {
      checkText(option)
      return
    }
    if (OBJECT_KEYS.some((key) => Object.hasOwn(option, key))) return
  }
  throw new TypeError(`${EXPECTED}, got ${describeOption(option)}`)
}

const EXPECTED =
  'kubeconfig must be a path, a list of paths, { text, folder } or a parsed kubeconfig with clusters, contexts and users'

function checkText(option: object): void {
  checkOptionNames(option, 'kubeconfig', TEXT_FIELDS)
  const { text, folder } = option as Readonly<Record<string, unknown>>
  if (typeof text !== 'string') {
    throw new TypeError(`kubeconfig.text must be a string, got ${describeOption(text)}`)
  }
  if (folder === undefined || (typeof folder === 'string' && folder !== '')) return
  const came = folder === '' ? 'an empty string' : describeOption(folder)
  throw new TypeError(`kubeconfig.folder must be the path of a folder, got ${came}`)
}

/** An object literal, or what a parser makes; also of another realm. An instance, such as client-node's KubeConfig, is not. */
function isPlainObject(value: unknown): value is object {
  if (!isFields(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** Describes a value that is not a kubeconfig, without its content. */
function describeOption(value: unknown): string {
  if (Array.isArray(value)) {
    return `a list with ${describeType(value.find((each) => typeof each !== 'string'))}`
  }
  if (!isFields(value)) return describeType(value)
  if (!isPlainObject(value)) return `an instance of ${Object(value).constructor?.name || 'a class'}`
  const keys = Object.keys(value).slice(0, 5)
  return keys.length === 0 ? 'an empty object' : `an object with ${keys.join(', ')}`
}
