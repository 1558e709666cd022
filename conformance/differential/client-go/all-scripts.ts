import { loadCases } from '../../case.ts'
import { fromIdentity } from './from-identity.ts'
import { fromRequest } from './from-request.ts'
import { ownScripts } from './own-scripts.ts'
import type { Script } from './script.ts'

const cases = loadCases().filter(({ data: { kind } }) => kind === 'request' || kind === 'identity')

/** Every script that is run with client-go and with kubecred. */
export const clientGoCases: readonly Script[] = [
  ...cases.flatMap(({ id, data }) => {
    if (data.skip !== undefined) return []
    if (data.kind === 'request') return [fromRequest(id, data)]
    return data.kind === 'identity' ? [fromIdentity(id, data)] : []
  }),
  ...ownScripts,
]

/** The cases of these kinds that are not run. */
export const notPlayed: readonly { readonly id: string; readonly why: string }[] = cases.flatMap(
  ({ id, data: { skip } }) => (skip === undefined ? [] : [{ id, why: skip }]),
)
