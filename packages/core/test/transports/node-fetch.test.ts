import { nodeFetch } from './drivers/node-fetch.ts'
import { describeTransport } from './table.ts'

describeTransport(nodeFetch)
