import { StatusError } from '../server/status.ts'
import { fields, type KubeObject } from './kube-object.ts'

/** Whether an object matches. */
export type Selector = (object: KubeObject) => boolean

type Requirement = (value: string | undefined) => boolean

const COMPARISON = /^([^=!,\s()]+)\s*(==|=|!=)\s*([^=!,\s()]*)$/
const KEY = /^(!?)\s*([^=!,\s()]+)$/

/**
 * Parses `labelSelector` and `fieldSelector` of a query.
 *
 * Labels support equality and existence, fields only `metadata.name` and `metadata.namespace`. Anything else is
 * rejected, because an unsupported selector must not select everything.
 *
 * @throws {StatusError} 400 for a selector that is not supported.
 */
export function parseSelectors(query: URLSearchParams): Selector {
  const labels = terms(query.get('labelSelector')).map(labelSelector)
  const others = terms(query.get('fieldSelector')).map(fieldSelector)
  return (object) => [...labels, ...others].every((selects) => selects(object))
}

function terms(text: string | null): string[] {
  if (text === null || text.trim() === '') return []
  return text.split(',').map((term) => term.trim())
}

function labelSelector(term: string): Selector {
  const [key, requirement] = parseComparison(term) ?? parseKey(term)
  return (object) => requirement(label(object, key))
}

function fieldSelector(term: string): Selector {
  const [key, requirement] = parseComparison(term) ?? ['', () => false]
  if (key !== 'metadata.name' && key !== 'metadata.namespace') {
    throw new StatusError('BadRequest', `field label not supported: ${term}`)
  }
  return ({ metadata }) => requirement(key === 'metadata.name' ? metadata.name : metadata.namespace)
}

function parseComparison(term: string): [string, Requirement] | undefined {
  const [, key, operator, wanted] = COMPARISON.exec(term) ?? []
  if (key === undefined) return undefined
  return [key, (value) => (operator === '!=' ? value !== wanted : value === wanted)]
}

function parseKey(term: string): [string, Requirement] {
  const [, negation, key] = KEY.exec(term) ?? []
  if (key === undefined) {
    throw new StatusError('BadRequest', `unable to parse requirement: ${term}`)
  }
  return [key, (value) => (negation === '!' ? value === undefined : value !== undefined)]
}

function label(object: KubeObject, key: string): string | undefined {
  const labels = fields(object.metadata['labels'])
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  return typeof value === 'string' ? value : undefined
}
