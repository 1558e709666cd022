import { fetchHttp2Driver } from '../transports/drivers/fetch-http2.ts'
import { describeSigned, OF_EACH } from './signed-table.ts'

describeSigned(fetchHttp2Driver, OF_EACH)
