export { createDispatcher } from './create-dispatcher.ts'
export { createInterceptor, type Interceptor } from './create-interceptor.ts'
export type { DispatcherOptions } from './dispatcher-options.ts'
export type { UndiciModule } from './undici-module.ts'
