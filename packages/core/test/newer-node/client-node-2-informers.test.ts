import * as newer from 'client-node-2'
import { describe } from 'vitest'
import { describeInformers } from '../client-node/informers.ts'
import type { ClientNode } from '../client-node/stage.ts'

describe('@kubernetes/client-node 2', () => {
  describeInformers(newer as unknown as ClientNode)
})
