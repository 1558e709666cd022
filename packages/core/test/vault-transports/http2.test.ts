import { http2Driver } from '../transports/drivers/http2.ts'
import { describeOnVault, OF_EACH } from '../transports/vault-table.ts'

describeOnVault(http2Driver, OF_EACH)
