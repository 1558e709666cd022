import { gotDriver } from '../transports/drivers/got.ts'
import { describeOnVault, OF_EACH } from '../transports/vault-table.ts'

describeOnVault(gotDriver, OF_EACH)
