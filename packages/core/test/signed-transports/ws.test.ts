import { wsDriver } from '../transports/drivers/ws.ts'
import { describeSigned } from './signed-table.ts'

describeSigned(wsDriver)
