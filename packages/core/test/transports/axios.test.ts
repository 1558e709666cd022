import { axiosDriver } from './drivers/axios.ts'
import { describeTransport } from './table.ts'

describeTransport(axiosDriver)
