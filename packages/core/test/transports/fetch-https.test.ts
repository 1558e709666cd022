import { fetchHttpsDriver } from './drivers/fetch-https.ts'
import { describeTransport } from './table.ts'

describeTransport(fetchHttpsDriver)
