import { fetchHttp2Driver } from '../transports/drivers/fetch-http2.ts'
import { describeOnVault, OF_EACH } from '../transports/vault-table.ts'

describeOnVault(fetchHttp2Driver, OF_EACH)
