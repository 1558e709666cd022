import { undici7Driver } from '../transports/drivers/undici-7.ts'
import { describeSigned } from './signed-table.ts'

describeSigned(undici7Driver)
