import { undici7InterceptorDriver } from './drivers/undici-7-interceptor.ts'
import { describeTransport } from './table.ts'

describeTransport(undici7InterceptorDriver)
