import { undici7InterceptorDriver } from '../transports/drivers/undici-7-interceptor.ts'
import { describeSigned } from './signed-table.ts'

describeSigned(undici7InterceptorDriver)
