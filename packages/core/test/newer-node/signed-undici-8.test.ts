import { describeSigned, OF_EACH } from '../signed-transports/signed-table.ts'
import { undici8Driver } from '../transports/drivers/undici-8.ts'

describeSigned(undici8Driver, OF_EACH)
