import { fetchDriver } from '../transports/drivers/fetch.ts'
import { describeSigned } from './signed-table.ts'

describeSigned(fetchDriver)
