import { http2Driver } from '../transports/drivers/http2.ts'
import { describeSigned, OF_EACH } from './signed-table.ts'

describeSigned(http2Driver, OF_EACH)
