import { undici7Driver } from '../transports/drivers/undici-7.ts'
import { describeOnVault } from '../transports/vault-table.ts'

describeOnVault(undici7Driver)
