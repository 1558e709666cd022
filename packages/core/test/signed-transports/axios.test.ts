import { axiosDriver } from '../transports/drivers/axios.ts'
import { describeSigned, OF_EACH } from './signed-table.ts'

describeSigned(axiosDriver, OF_EACH)
