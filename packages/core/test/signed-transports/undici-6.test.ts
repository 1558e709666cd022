import { undici6Driver } from '../transports/drivers/undici-6.ts'
import { describeSigned, OF_EACH } from './signed-table.ts'

describeSigned(undici6Driver, OF_EACH)
