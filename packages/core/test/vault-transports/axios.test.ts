import { axiosDriver } from '../transports/drivers/axios.ts'
import { describeOnVault, OF_EACH } from '../transports/vault-table.ts'

describeOnVault(axiosDriver, OF_EACH)
