import { gotDriver } from './drivers/got.ts'
import { describeTransport } from './table.ts'

describeTransport(gotDriver)
