import { undici7FetchDriver } from './drivers/undici-7-fetch.ts'
import { describeTransport } from './table.ts'

describeTransport(undici7FetchDriver)
