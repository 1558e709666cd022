import { nodeFetch } from '../transports/drivers/node-fetch.ts'
import { describeOnVault, OF_EACH } from '../transports/vault-table.ts'

describeOnVault(nodeFetch, OF_EACH)
