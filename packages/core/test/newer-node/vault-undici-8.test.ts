import { undici8Driver } from '../transports/drivers/undici-8.ts'
import { describeOnVault, OF_EACH } from '../transports/vault-table.ts'

describeOnVault(undici8Driver, OF_EACH)
