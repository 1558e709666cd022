import * as newer from 'client-node-2'
import { describe } from 'vitest'
import { describeAttachments } from '../client-node/attachments.ts'
import { describeGeneratedApis } from '../client-node/generated-apis.ts'
import { describeLookups } from '../client-node/lookups.ts'
import { describeOidcDefects } from '../client-node/oidc-defects.ts'
import { describePluginDefects } from '../client-node/plugin-defects.ts'
import { describeRequests } from '../client-node/requests.ts'
import type { ClientNode } from '../client-node/stage.ts'
import { describeTransportDefects } from '../client-node/transport-defects.ts'

// The part that the tests use has the same shape; the types of the two versions are unrelated.
const client = newer as unknown as ClientNode

describe('@kubernetes/client-node 2', () => {
  describeRequests(client)
  describePluginDefects(client)
  describeTransportDefects(client)
  describeOidcDefects(client)
  describeAttachments(client)
  describeGeneratedApis(client)
  describeLookups(client)
})
