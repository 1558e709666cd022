import { fetchDriver } from '../../../packages/core/test/transports/drivers/fetch.ts'
import { describeOnVault } from '../../../packages/core/test/transports/vault-table.ts'
import { here } from '../here.ts'

describeOnVault(here(fetchDriver))
