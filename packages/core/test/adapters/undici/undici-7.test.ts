import * as undici from 'undici'
import { describeDispatcher } from './dispatcher-suite.ts'
import { describeFetch } from './fetch-suite.ts'
import { describeInterceptor } from './interceptor-suite.ts'
import { describeOrigins } from './origin-suite.ts'
import { describeControl } from './steering-suite.ts'

describeDispatcher('undici 7', undici)
describeOrigins('undici 7', undici)
describeInterceptor('undici 7', undici)
describeFetch('undici 7', undici)
describeControl('undici 7', undici, ['older', 'newer'])
