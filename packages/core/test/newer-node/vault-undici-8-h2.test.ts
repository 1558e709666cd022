import { undici8Http2Driver } from '../transports/drivers/undici-8-h2.ts'
import { describeOnVault, OF_EACH } from '../transports/vault-table.ts'

describeOnVault(undici8Http2Driver, OF_EACH)
