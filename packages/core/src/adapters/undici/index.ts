export { createDispatcher } from './create-dispatcher.ts'
export { createInterceptor, type Interceptor } from './create-interceptor.ts'
export type { DispatcherOptions, UndiciModule } from './dispatcher-options.ts'
