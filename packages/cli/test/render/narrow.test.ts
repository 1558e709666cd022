import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/command-table.ts'
import { choosePalette } from '../../src/render/colour.ts'
import { commandHelp, programHelp } from '../../src/render/help-text.ts'
import { type ContextStatus, statusTable } from '../../src/render/status-table.ts'
import { StderrWriter } from '../../src/render/stderr-writer.ts'

const PLAIN = choosePalette(false, {})
const LONG = 'gke_my-project-123456_europe-west1-b_cluster-with-a-long-name'

const longest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length))

const row = (context: string, more: Partial<ContextStatus> = {}): ContextStatus => ({
  context,
  isCurrent: false,
  state: 'unknown',
  source: { kind: 'exec', name: 'gke-gcloud-auth-plugin' },
  ...more,
})
const ROWS = [
  row('staging', { isCurrent: true }),
  row(LONG),
  row('broken', { state: 'invalid', problem: { message: 'it cannot be '.repeat(20) } }),
]

describe('status', () => {
  it.each([200, 120, 80, 60, 45])('fits into %d columns, with full names', (columns) => {
    const table = statusTable(ROWS, PLAIN, { now: 0, columns })
    for (const { context } of ROWS) expect(table).toContain(` ${context}`)
    const others = table.split('\n').filter((line) => !line.includes(LONG))
    expect(longest(others.join('\n'))).toBeLessThanOrEqual(columns)
    expect(table.match(/not fetched/g)).toHaveLength(2)
  })

  it('aligns columns after wide, combining and half-width characters', () => {
    const names = [
      'plain',
      '生产集群',
      'プロダクション',
      'ﾌﾟﾛﾀﾞｸｼｮﾝ',
      '운영',
      'cafe\u0301',
      '🚀-prod',
      'Ａ',
      '㍿',
      '👍🏽',
      '🇩🇪',
    ]
    const rows = names.map((name) => row(name))
    const lines = statusTable(rows, PLAIN, { now: 0, columns: 80 }).trimEnd().split('\n')
    // The width of each name in a terminal, from its documentation.
    const widths = [5, 8, 14, 9, 4, 4, 7, 2, 2, 2, 2]
    const places = lines.slice(1).map((line, at) => {
      const name = names[at] ?? ''
      return line.indexOf('plugin') - name.length + (widths[at] ?? 0)
    })
    expect(new Set(places)).toEqual(new Set([lines[0]?.indexOf('SOURCE')]))
  })

  it('truncates between characters, never inside a wide one', () => {
    const problem = { message: '证书已过期'.repeat(20) }
    const table = statusTable([row('a', { state: 'invalid', problem })], PLAIN, {
      now: 0,
      columns: 60,
    })
    const line = table.trimEnd().split('\n')[1] ?? ''
    const columns = [...line].reduce((sum, each) => sum + (/\p{Script=Han}/u.test(each) ? 2 : 1), 0)
    expect(line).toMatch(/[证书已过期]…$/u)
    expect([59, 60]).toContain(columns)
  })

  it('does not split a grapheme cluster', () => {
    const cell = (message: string, columns: number): string => {
      const problem = { message }
      const rows = [row('a', { state: 'invalid', problem })]
      return statusTable(rows, PLAIN, { now: 0, columns }).split('invalid: ')[1] ?? ''
    }
    for (const columns of [60, 61]) {
      expect(cell('🇩🇪'.repeat(40), columns)).toMatch(/^(🇩🇪)+…\n$/u)
      expect(cell('𠮷'.repeat(40), columns)).toMatch(/^𠮷+…\n$/u)
      expect(cell('e\u0301'.repeat(60), columns)).toMatch(/^(e\u0301)+…\n$/u)
    }
  })

  it('puts the reason first where a message is cut', () => {
    const message = `cannot read the token file "/home/jane/${'long: '.repeat(20)}": permission denied`
    const rows = [row('dev', { state: 'invalid', problem: { message } })]
    const wide = statusTable(rows, PLAIN, { now: 0, columns: 300 })
    expect(wide).toContain(`invalid: ${message}`)
    for (const columns of [80, 60]) {
      const narrow = statusTable(rows, PLAIN, { now: 0, columns })
      expect(narrow).toMatch(/invalid: permission denied (?:\(.*)?…$/m)
    }
  })

  it('shows only a known expiry in green', () => {
    const { green, dim, ...others } = choosePalette(true, {})
    const paint = (more: Partial<ContextStatus>): string =>
      statusTable(
        [row('dev', { state: 'valid', ...more })],
        { ...others, green, dim },
        {
          now: 0,
          columns: 120,
        },
      )
    expect(paint({ expiresAt: 720_000 })).toContain(green('expires in 12 min'))
    expect(paint({ state: 'unchecked' })).toContain(dim('no known expiry (not checked)'))
  })

  it('has one line for each context if there is room, otherwise two', () => {
    const lines = (columns: number): number =>
      statusTable(ROWS, PLAIN, { now: 0, columns }).trimEnd().split('\n').length
    expect(lines(120)).toBe(4)
    expect(lines(60)).toBe(6)
  })
})

describe('help', () => {
  it.each([60, 45])('breaks no words in %d columns, except in examples', (columns) => {
    const examples = COMMANDS.flatMap((command) => command.examples)
    const texts = [
      programHelp(COMMANDS, columns),
      ...COMMANDS.map((one) => commandHelp(one, columns)),
    ]
    const lines = texts
      .flatMap((text) => text.split('\n'))
      .filter((line) => !examples.includes(line.trim()) && !line.startsWith('Usage:'))
    expect(longest(lines.join('\n'))).toBeLessThanOrEqual(columns)
  })

  it('is the same in a pipe and on a wide terminal', () => {
    expect(programHelp(COMMANDS)).toBe(programHelp(COMMANDS, 200))
  })
})

describe('an error', () => {
  const write = (columns: number | undefined, text: string): string => {
    let written = ''
    const stderr = {
      write(part: string) {
        written += part
        return true
      },
    }
    new StderrWriter(stderr, PLAIN, columns).paragraph(text, 'kubecred:')
    return written
  }

  it('is wrapped at spaces on a terminal, and not in a file', () => {
    const text = 'it was not found in /one/folder, /another/folder, /a/third/folder'
    expect(write(30, text)).toBe(
      'kubecred: it was not found in\n/one/folder, /another/folder,\n/a/third/folder\n',
    )
    expect(write(undefined, text)).toBe(`kubecred: ${text}\n`)
  })

  it('is wrapped by display width, also with wide characters', () => {
    expect(write(24, '证书已过期 证书 证书')).toBe('kubecred: 证书已过期\n证书 证书\n')
  })

  it('keeps indented lines whole for pasting', () => {
    const stanza =
      '- name: me\n  user:\n    exec:\n      installHint: "a long line with many words"'
    expect(write(20, `replace it:\n${stanza}`)).toBe(`kubecred: replace\nit:\n${stanza}\n`)
  })
})
