import { gotDriver } from '../transports/drivers/got.ts'
import { describeSigned, OF_EACH } from './signed-table.ts'

describeSigned(gotDriver, OF_EACH)
