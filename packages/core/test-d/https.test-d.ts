import type http from 'node:http'
import type https from 'node:https'
import type { AxiosRequestConfig } from 'axios'
import type { OptionsInit } from 'got'
import type { Cluster } from 'kubecred'
import { type AgentOptions, createAgent } from 'kubecred/https'
import type { RequestInit } from 'node-fetch'
import { expectTypeOf, it } from 'vitest'
import type { ClientOptions } from 'ws'

declare const cluster: Cluster

it('createAgent accepts a cluster', () => {
  expectTypeOf(createAgent).toBeCallableWith(cluster)
  expectTypeOf(createAgent).toBeCallableWith(cluster, { direct: true })
  expectTypeOf(createAgent).returns.toEqualTypeOf<https.Agent>()
  expectTypeOf<AgentOptions>().toEqualTypeOf<{ readonly direct?: boolean }>()
})

it('the agent works with every client', () => {
  type Agent = ReturnType<typeof createAgent>
  expectTypeOf<{ agent: Agent }>().toExtend<https.RequestOptions>()
  expectTypeOf<{ agent: Agent }>().toExtend<http.RequestOptions>()
  expectTypeOf<{ httpsAgent: Agent }>().toExtend<AxiosRequestConfig>()
  expectTypeOf<{ agent: { https: Agent } }>().toExtend<OptionsInit>()
  expectTypeOf<{ agent: Agent }>().toExtend<RequestInit>()
  expectTypeOf<{ agent: Agent }>().toExtend<ClientOptions>()
})
