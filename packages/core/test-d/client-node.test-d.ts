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

it('attach accepts a KubeConfig of both versions', () => {
  expectTypeOf<KubeConfig>().toExtend<KubeConfigLike>()
  expectTypeOf<NewerKubeConfig>().toExtend<KubeConfigLike>()
  expectTypeOf(attach).toBeCallableWith({} as KubeConfig)
  expectTypeOf(attach).toBeCallableWith({} as NewerKubeConfig, { stdinUnavailable: 'in use' })
  expectTypeOf(attach).returns.toEqualTypeOf<Attachment>()
})

it('attach accepts the options of connect() that do not select a cluster', () => {
  expectTypeOf<AttachOptions>().toExtend<ConnectOptions>()
  expectTypeOf<AttachOptions>().not.toHaveProperty('context')
  expectTypeOf<AttachOptions>().not.toHaveProperty('server')
  expectTypeOf<AttachOptions>().not.toHaveProperty('token')
})

it('an attachment has a status and can be closed', () => {
  expectTypeOf<Attachment>().toExtend<AsyncDisposable>()
  expectTypeOf<Attachment['close']>().returns.toEqualTypeOf<Promise<void>>()
  expectTypeOf<Attachment['status']>().returns.toEqualTypeOf<AttachmentStatus>()
  expectTypeOf<AttachmentStatus['clusters']>().toEqualTypeOf<readonly ClusterStatus[]>()
  expectTypeOf<AttachmentStatus['by']>().toEqualTypeOf<'kubecred' | 'client-node'>()
})
