import { undici6Driver } from '../transports/drivers/undici-6.ts'
import { describeOnVault, OF_EACH } from '../transports/vault-table.ts'

describeOnVault(undici6Driver, OF_EACH)
