import { wsDriver } from './drivers/ws.ts'
import { describeTransport } from './table.ts'

describeTransport(wsDriver)
