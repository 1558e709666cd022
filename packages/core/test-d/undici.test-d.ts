import type { Cluster } from 'kubecred'
import {
  createDispatcher,
  createInterceptor,
  type DispatcherOptions,
  type Interceptor,
  type UndiciModule,
} from 'kubecred/undici'
import * as undici7 from 'undici'
import * as undici6 from 'undici-6'
import * as undici8 from 'undici-8'
import { expectTypeOf, it } from 'vitest'

declare const cluster: Cluster

it('accepts every version of undici, and returns a dispatcher of that version', () => {
  expectTypeOf(undici6).toExtend<UndiciModule>()
  expectTypeOf(undici7).toExtend<UndiciModule>()
  expectTypeOf(undici8).toExtend<UndiciModule>()
  expectTypeOf(createDispatcher(cluster, undici6)).toEqualTypeOf<undici6.Dispatcher>()
  expectTypeOf(createDispatcher(cluster, undici7)).toEqualTypeOf<undici7.Dispatcher>()
  expectTypeOf(createDispatcher(cluster, undici8)).toEqualTypeOf<undici8.Dispatcher>()
})

it('returns what the functions of undici accept', () => {
  const dispatcher = createDispatcher(cluster, undici7, { connections: 10, bodyTimeout: 0 })
  expectTypeOf(undici7.fetch).toBeCallableWith('https://a', { dispatcher })
  expectTypeOf(undici7.setGlobalDispatcher).toBeCallableWith(dispatcher)
  const eight = createDispatcher(cluster, undici8, { allowH2: true })
  expectTypeOf(undici8.fetch).toBeCallableWith('https://a', { dispatcher: eight })
})

it('does not accept options that replace our connections', () => {
  expectTypeOf<DispatcherOptions>().not.toHaveProperty('connect')
  expectTypeOf<DispatcherOptions>().not.toHaveProperty('factory')
  // @ts-expect-error It needs the module.
  createDispatcher(cluster, new undici7.Agent())
})

it('creates an interceptor for compose() of every version', () => {
  const interceptor = createInterceptor(cluster)
  expectTypeOf(interceptor).toEqualTypeOf<Interceptor>()
  expectTypeOf(new undici6.Agent().compose(interceptor)).toExtend<undici6.Dispatcher>()
  expectTypeOf(new undici7.Agent().compose(interceptor)).toExtend<undici7.Dispatcher>()
  expectTypeOf(new undici8.Agent().compose([interceptor])).toExtend<undici8.Dispatcher>()
})
