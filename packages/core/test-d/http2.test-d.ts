import type { Readable } from 'node:stream'
import { type Cluster, type ConnectOptions, connect } from 'kubecred'
import { type Http2Client, type Http2Headers, type Http2Response, openHttp2 } from 'kubecred/http2'
import { expectTypeOf, test } from 'vitest'

declare const cluster: Cluster

test('a client is created from a cluster', () => {
  expectTypeOf(openHttp2).parameter(0).toExtend<object>()
  expectTypeOf(openHttp2(cluster)).toEqualTypeOf<Http2Client>()
})

test('a response has a status, headers and a stream', () => {
  expectTypeOf<Http2Client['request']>().returns.resolves.toEqualTypeOf<Http2Response>()
  expectTypeOf<Http2Response['status']>().toEqualTypeOf<number>()
  expectTypeOf<Http2Response['stream']>().toEqualTypeOf<Readable>()
})

test('headers are strings or lists of strings', () => {
  expectTypeOf({ ':path': '/', ':method': 'GET', accept: ['a', 'b'] }).toExtend<Http2Headers>()
  expectTypeOf({ ':path': 1 }).not.toExtend<Http2Headers>()
})

test('connect() can use it for all requests', () => {
  expectTypeOf<'http2'>().toExtend<ConnectOptions['transport']>()
  expectTypeOf(connect).parameter(0).toEqualTypeOf<ConnectOptions | undefined>()
})
