import { describe, expect, it } from 'vitest'
import {
  asksCompressed,
  attachLease,
  defaultHeaders,
  impersonatesUser,
  mergeHeaders,
} from '../../src/request/headers.ts'

const jane = { user: 'jane', groups: [], extra: {} }
const withJane = defaultHeaders({ userAgent: 'ua', disableCompression: true, impersonate: jane })

describe('the headers of a request without headers of its own', () => {
  it('are the user agent, and that a compressed response is wanted', () => {
    expect(defaultHeaders({ userAgent: 'ua', disableCompression: false })).toEqual({
      'user-agent': 'ua',
      'accept-encoding': 'gzip',
    })
    expect(defaultHeaders({ userAgent: 'ua', disableCompression: true })).toEqual({
      'user-agent': 'ua',
    })
  })

  it('have the impersonated user, and only what is set of its uid, groups and extra fields', () => {
    expect(withJane).toEqual({ 'user-agent': 'ua', 'impersonate-user': 'jane' })
    const impersonate = {
      user: 'jäne',
      uid: 'ü',
      groups: ['dev', 'öps'],
      extra: { 'Example.org/Scopes%': ['a', 'ß'], "!#$&'*+.^_`|~-9": [], é: ['x'], '\t': ['y'] },
    }
    expect(defaultHeaders({ userAgent: 'ua', disableCompression: true, impersonate })).toEqual({
      'user-agent': 'ua',
      'impersonate-user': 'jÃ¤ne',
      'impersonate-uid': 'Ã¼',
      'impersonate-group': ['dev', 'Ã¶ps'],
      'impersonate-extra-example.org%2fscopes%25': ['a', 'Ã\u009f'],
      "impersonate-extra-!#$&'*+.^_`|~-9": [],
      'impersonate-extra-%c3%a9': ['x'],
      'impersonate-extra-%09': ['y'],
    })
  })
})

describe('the headers of a caller', () => {
  it('take precedence, except those that belong to the connection', () => {
    const own = {
      'user-agent': 'mine',
      accept: 'a/b',
      host: 'other',
      connection: 'close',
      'content-length': '7',
      'transfer-encoding': 'chunked',
    }
    expect(mergeHeaders({ 'user-agent': 'ua', 'x-a': '1' }, own)).toEqual({
      'user-agent': 'mine',
      accept: 'a/b',
      'x-a': '1',
    })
  })

  it('say whether only the defaults ask for a compressed response', () => {
    const wanted = { 'accept-encoding': 'gzip' }
    expect(asksCompressed(wanted, undefined)).toBe(true)
    expect(asksCompressed(wanted, { accept: 'a/b' })).toBe(true)
    expect(asksCompressed(wanted, { 'accept-encoding': 'br' })).toBe(false)
    expect(asksCompressed({}, {})).toBe(false)
  })

  it('replace the whole impersonated identity, never a part of it', () => {
    const defaults = { ...withJane, 'impersonate-group': ['dev'], 'impersonate-extra-a': ['1'] }
    expect(mergeHeaders(defaults, { 'impersonate-user': 'ann' })).toEqual({
      'user-agent': 'ua',
      'impersonate-user': 'ann',
    })
    expect(mergeHeaders(defaults, { 'impersonate-group': ['ops'] })).toEqual({
      ...defaults,
      'impersonate-group': ['ops'],
    })
  })

  it.each(['', ' ', [], ['', 'ann']])('cannot end the impersonation with %j', (user) => {
    const own = { 'impersonate-user': user }
    expect(impersonatesUser(own)).toBe(false)
    expect(mergeHeaders(withJane, own)['impersonate-user']).toBe('jane')
  })

  it('may impersonate if nothing else does', () => {
    expect(impersonatesUser({})).toBe(false)
    expect(impersonatesUser({ 'impersonate-user': ['ann', ''] })).toBe(true)
    const own = { 'impersonate-user': 'ann', 'impersonate-group': ['ops'] }
    expect(mergeHeaders({}, own)).toEqual(own)
  })
})

describe('the headers of one try', () => {
  const headers = { accept: 'a/b' }
  const endpoint = {
    cluster: { server: 'https://k', insecureSkipTlsVerify: false, disableCompression: false },
    ca: undefined,
    namespace: 'default',
    trustEnv: false,
    priority: 0,
  }

  it('have the credential and the impersonation of the same login', () => {
    const lease = { authorization: 'Bearer t', endpoint: { ...endpoint, impersonate: jane } }
    expect(attachLease(headers, lease)).toEqual({
      ...headers,
      authorization: 'Bearer t',
      'impersonate-user': 'jane',
    })
    expect(headers).toEqual({ accept: 'a/b' })
  })

  it('are the same object if there is nothing to attach', () => {
    expect(attachLease(headers, {})).toBe(headers)
    expect(attachLease(headers, { endpoint })).toBe(headers)
  })
})
