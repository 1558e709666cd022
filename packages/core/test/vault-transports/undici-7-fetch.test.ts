import { undici7FetchDriver } from '../transports/drivers/undici-7-fetch.ts'
import { describeOnVault, OF_EACH } from '../transports/vault-table.ts'

describeOnVault(undici7FetchDriver, OF_EACH)
