import type { EndedRequest } from 'kubecred/proxy'
import { describe, expect, it } from 'vitest'
import { createAccessLog, type LogFormat } from '../../src/proxy/access-log.ts'

const NOTE: EndedRequest = {
  at: Date.UTC(2026, 0, 2, 3, 4, 5),
  method: 'GET',
  path: '/api/v1/pods',
  status: 200,
  tookMs: 3,
  totalMs: 12.345,
  sentBytes: 1234,
  isUpgrade: false,
  address: '10.0.0.7',
  caller: 'system:serviceaccount:shop:web',
}

function open(format: LogFormat) {
  const output = { text: '', writableLength: 0 }
  const write = (text: string): boolean => {
    output.text += text
    return true
  }
  const stdout = Object.assign(output, { write })
  return { stdout, note: createAccessLog(format, stdout) }
}

describe('the access log', () => {
  it('has one line of JSON for each request', () => {
    const { stdout, note } = open('json')
    note(NOTE)
    const { caller: _, ...anyone } = NOTE
    note({ ...anyone, status: 401, rejectedFor: 'the token', isUpgrade: true })
    const [first = '', second = '', rest] = stdout.text.split('\n')
    expect(rest).toBe('')
    expect(JSON.parse(first)).toEqual({
      time: '2026-01-02T03:04:05.000Z',
      address: '10.0.0.7',
      caller: 'system:serviceaccount:shop:web',
      method: 'GET',
      path: '/api/v1/pods',
      status: 200,
      durationMs: 12.3,
      bytes: 1234,
    })
    const refused = { status: 401, refused: 'the token', upgrade: true }
    expect(JSON.parse(second)).toMatchObject(refused)
    expect(JSON.parse(second)).not.toHaveProperty('caller')
  })

  it('has one line of text for each request', () => {
    const { stdout, note } = open('text')
    note(NOTE)
    const { caller: _, address: __, ...anyone } = NOTE
    note({ ...anyone, status: 401, rejectedFor: 'the token' })
    expect(stdout.text).toBe(
      '2026-01-02T03:04:05.000Z 10.0.0.7 system:serviceaccount:shop:web "GET /api/v1/pods" 200 1234 B 12.3 ms\n' +
        '2026-01-02T03:04:05.000Z - - "GET /api/v1/pods" 401 1234 B 12.3 ms refused: the token\n',
    )
  })

  it.each(['text', 'json'] as const)('cannot be forged by a path or a name, as %s', (format) => {
    const { stdout, note } = open(format)
    note({ ...NOTE, path: '/a\n2026 "\u001b[2J\u202e', caller: 'web\r\nroot "' })
    expect(stdout.text.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })

  it.each(['text', 'json'] as const)('does not show a token in a path, as %s', (format) => {
    const { stdout, note } = open(format)
    note({ ...NOTE, path: '/api/eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOlsiYSJdfQ.c2lnbmF0dXJl' })
    expect(stdout.text).toContain('/api/[secret]')
    expect(stdout.text).not.toContain('eyJ')
  })

  it('drops lines that a slow reader does not take, and counts them', () => {
    const { stdout, note } = open('json')
    stdout.writableLength = 2 * 1024 * 1024
    note(NOTE)
    note(NOTE)
    expect(stdout.text).toBe('')
    stdout.writableLength = 0
    note(NOTE)
    expect(JSON.parse(stdout.text)).toMatchObject({ status: 200, droppedLines: 2 })
  })
})
