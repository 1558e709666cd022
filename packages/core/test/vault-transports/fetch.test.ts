import { fetchDriver } from '../transports/drivers/fetch.ts'
import { describeOnVault } from '../transports/vault-table.ts'

describeOnVault(fetchDriver)
