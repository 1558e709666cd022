import { undici7FetchDriver } from '../transports/drivers/undici-7-fetch.ts'
import { describeSigned, OF_EACH } from './signed-table.ts'

describeSigned(undici7FetchDriver, OF_EACH)
