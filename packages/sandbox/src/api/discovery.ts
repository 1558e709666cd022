import { RESOURCES } from './resources.ts'
import { VERSION } from './version.ts'

const REVIEW_GROUP = 'authentication.k8s.io'

/** Returns the response body for a path that is not about objects, such as `/version` or `/api`; undefined if there is none. */
export function discover(path: string, host: string): unknown {
  switch (path) {
    case '/healthz':
    case '/livez':
    case '/readyz':
      return 'ok'
    case '/version':
      return VERSION
    case '/api':
      return {
        kind: 'APIVersions',
        versions: ['v1'],
        serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: host }],
      }
    case '/apis':
      return { kind: 'APIGroupList', apiVersion: 'v1', groups: [reviewGroup()] }
    case `/apis/${REVIEW_GROUP}`:
      return { kind: 'APIGroup', apiVersion: 'v1', ...reviewGroup() }
    case `/apis/${REVIEW_GROUP}/v1`:
      return resourceList(`${REVIEW_GROUP}/v1`, [
        {
          name: 'selfsubjectreviews',
          singularName: 'selfsubjectreview',
          namespaced: false,
          kind: 'SelfSubjectReview',
          verbs: ['create'],
        },
      ])
    case '/api/v1':
      return resourceList('v1', RESOURCES)
    default:
      return undefined
  }
}

function reviewGroup(): object {
  const version = { groupVersion: `${REVIEW_GROUP}/v1`, version: 'v1' }
  return { name: REVIEW_GROUP, versions: [version], preferredVersion: version }
}

function resourceList(groupVersion: string, resources: readonly object[]): object {
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources }
}
