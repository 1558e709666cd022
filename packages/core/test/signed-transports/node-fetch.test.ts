import { nodeFetch } from '../transports/drivers/node-fetch.ts'
import { describeSigned, OF_EACH } from './signed-table.ts'

describeSigned(nodeFetch, OF_EACH)
