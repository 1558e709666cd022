import * as undici from 'undici-6'
import { describeDispatcher } from './dispatcher-suite.ts'
import { describeFetch } from './fetch-suite.ts'
import { describeInterceptor } from './interceptor-suite.ts'
import { describeOrigins } from './origin-suite.ts'
import type { AnyUndici } from './scene.ts'
import { describeControl } from './steering-suite.ts'

const undici6 = undici as unknown as AnyUndici

describeDispatcher('undici 6', undici6)
describeOrigins('undici 6', undici6)
describeInterceptor('undici 6', undici6)
describeFetch('undici 6', undici6)
describeControl('undici 6', undici6, ['older'])
