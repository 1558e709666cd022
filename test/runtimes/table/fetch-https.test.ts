import { fetchHttpsDriver } from '../../../packages/core/test/transports/drivers/fetch-https.ts'
import { describeTransport } from '../../../packages/core/test/transports/table.ts'
import { here } from '../here.ts'

describeTransport(here(fetchHttpsDriver))
