import { fetchDriver } from './drivers/fetch.ts'
import { describeTransport } from './table.ts'

describeTransport(fetchDriver)
