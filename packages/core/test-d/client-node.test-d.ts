import type { KubeConfig } from '@kubernetes/client-node'
import type { KubeConfig as NewerKubeConfig } from 'client-node-2'
import type { ClusterStatus, ConnectOptions } from 'kubecred'
import {
  type Attachment,
  type AttachmentStatus,
  type AttachOptions,
  attach,
  type KubeConfigLike,
} from 'kubecred/client-node'
import { expectTypeOf, it } from 'vitest'

it('attach takes a KubeConfig of either version', () => {
  expectTypeOf<KubeConfig>().toExtend<KubeConfigLike>()
  expectTypeOf<NewerKubeConfig>().toExtend<KubeConfigLike>()
  expectTypeOf(attach).toBeCallableWith({} as KubeConfig)
  expectTypeOf(attach).toBeCallableWith({} as NewerKubeConfig, { stdinUnavailable: 'in use' })
  expectTypeOf(attach).returns.toEqualTypeOf<Attachment>()
})

it('attach takes those options of connect() that do not say which cluster', () => {
  expectTypeOf<AttachOptions>().toExtend<ConnectOptions>()
  expectTypeOf<AttachOptions>().not.toHaveProperty('context')
  expectTypeOf<AttachOptions>().not.toHaveProperty('server')
  expectTypeOf<AttachOptions>().not.toHaveProperty('token')
})

it('an attachment can be asked and closed', () => {
  expectTypeOf<Attachment>().toExtend<AsyncDisposable>()
  expectTypeOf<Attachment['close']>().returns.toEqualTypeOf<Promise<void>>()
  expectTypeOf<Attachment['status']>().returns.toEqualTypeOf<AttachmentStatus>()
  expectTypeOf<AttachmentStatus['clusters']>().toEqualTypeOf<readonly ClusterStatus[]>()
  expectTypeOf<AttachmentStatus['by']>().toEqualTypeOf<'kubecred' | 'client-node'>()
})
