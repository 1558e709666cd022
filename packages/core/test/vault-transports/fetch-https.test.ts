import { fetchHttpsDriver } from '../transports/drivers/fetch-https.ts'
import { describeOnVault, OF_EACH } from '../transports/vault-table.ts'

describeOnVault(fetchHttpsDriver, OF_EACH)
