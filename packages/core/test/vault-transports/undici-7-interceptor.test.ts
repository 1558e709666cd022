import { undici7InterceptorDriver } from '../transports/drivers/undici-7-interceptor.ts'
import { describeOnVault, OF_EACH } from '../transports/vault-table.ts'

describeOnVault(undici7InterceptorDriver, OF_EACH)
