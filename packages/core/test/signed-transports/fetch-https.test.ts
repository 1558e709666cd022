import { fetchHttpsDriver } from '../transports/drivers/fetch-https.ts'
import { describeSigned, OF_EACH } from './signed-table.ts'

describeSigned(fetchHttpsDriver, OF_EACH)
