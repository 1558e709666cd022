import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../src/index.ts'
import { call, open } from '../client.ts'
import { connectH2 } from '../h2-client.ts'
import { createPod, POD } from './pod.ts'

let sandbox: Sandbox
let token: string
beforeEach(async () => {
  sandbox = await startSandbox()
  token = sandbox.issueToken({ user: 'jane' }).token
  await createPod(sandbox, token)
})
afterEach(async () => sandbox.close())

describe('the log of a pod', () => {
  it('begins with three lines, followed by those of sandbox.log()', async () => {
    sandbox.log('default', 'web', 'hello')
    const { text, headers } = await call(sandbox, `${POD}/log`, { token })
    expect(text).toBe('line 1\nline 2\nline 3\nhello\n')
    expect(headers['content-type']).toBe('text/plain')
  })

  it.each([
    ['2', 'line 2\nline 3\n'],
    ['0', ''],
    ['9', 'line 1\nline 2\nline 3\n'],
  ])('is cut to its last %s lines', async (lines, expected) => {
    expect((await call(sandbox, `${POD}/log?tailLines=${lines}`, { token })).text).toBe(expected)
  })

  it.each([
    { what: 'a pod that is not there', path: POD.replace('web', 'gone'), query: '', status: 404 },
    { what: 'a strange number of lines', path: POD, query: '?tailLines=-1', status: 400 },
  ])('of $what is answered with $status', async ({ path, query, status }) => {
    const { json } = await call(sandbox, `${path}/log${query}`, { token })
    expect(json).toMatchObject({ kind: 'Status', code: status })
  })

  it('can only be read', async () => {
    expect((await call(sandbox, `${POD}/log`, { method: 'POST', token })).status).toBe(405)
  })

  it('can be followed until the pod is deleted', async () => {
    const response = await open(sandbox, `${POD}/log?follow=true&tailLines=1`, { token })
    const lines = createInterface(response)
    expect(await once(lines, 'line')).toEqual(['line 3'])
    const next = once(lines, 'line')
    sandbox.log('default', 'web', 'hello')
    expect(await next).toEqual(['hello'])
    const ended = once(lines, 'close')
    await call(sandbox, POD, { method: 'DELETE', token })
    await ended
  })

  it('can be followed over HTTP/2 from its end', async () => {
    await using h2 = connectH2(sandbox)
    const { status, stream } = await h2.open(`${POD}/log?follow=1&tailLines=0`, { token })
    expect(status).toBe(200)
    const line = once(createInterface(stream), 'line')
    sandbox.log('default', 'web', 'hello')
    expect(await line).toEqual(['hello'])
  })

  it('cannot be appended to if the pod does not exist', () => {
    expect(() => sandbox.log('default', 'gone', 'hello')).toThrow('no pod "gone"')
  })
})
