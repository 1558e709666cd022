import * as client from '@kubernetes/client-node'
import { describe } from 'vitest'
import { describeInformers } from './informers.ts'

describe('@kubernetes/client-node 1.4', () => {
  describeInformers(client)
})
