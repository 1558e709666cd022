import * as client from '@kubernetes/client-node'
import { describe } from 'vitest'
import { describeAttachments } from './attachments.ts'
import { describeGeneratedApis } from './generated-apis.ts'
import { describeLookups } from './lookups.ts'
import { describeOidcDefects } from './oidc-defects.ts'
import { describePluginDefects } from './plugin-defects.ts'
import { describeRequests } from './requests.ts'
import { describeTransportDefects } from './transport-defects.ts'

describe('@kubernetes/client-node 1.4', () => {
  describeRequests(client)
  describePluginDefects(client)
  describeTransportDefects(client)
  describeOidcDefects(client)
  describeAttachments(client)
  describeGeneratedApis(client)
  describeLookups(client)
})
