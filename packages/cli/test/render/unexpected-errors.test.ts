import { beforeEach, expect, it } from 'vitest'
import { choosePalette } from '../../src/render/colour.ts'
import { StderrWriter } from '../../src/render/stderr-writer.ts'
import { UnexpectedErrors } from '../../src/render/unexpected-errors.ts'

let now: number
let written: string
let errors: UnexpectedErrors

beforeEach(() => {
  now = 1_000_000
  written = ''
  const stderr = {
    write: (text: string) => {
      written += text
      return true
    },
  }
  errors = new UnexpectedErrors(new StderrWriter(stderr, choosePalette(false, {})), () => now)
})

const report = (id: string): void =>
  errors.report({ id, message: 'Error: x', stack: `Error: ${id}\n    at y` })
const lines = (): string[] => written.split('\n').filter((line) => line.startsWith('kubecred:'))

it('writes an error with its stack', () => {
  report('aaaaaaaa')
  expect(written).toBe('kubecred: internal error aaaaaaaa\n  Error: aaaaaaaa\n      at y\n')
})

it('writes the same error once a minute, with a count', () => {
  for (let count = 0; count < 1000; count += 1) report('aaaaaaaa')
  expect(lines()).toEqual(['kubecred: internal error aaaaaaaa'])
  now += 60_000
  report('aaaaaaaa')
  expect(lines()[1]).toBe(
    'kubecred: internal error aaaaaaaa, 999 times more since it was last written',
  )
  expect(written.match(/at y/g)).toHaveLength(2)
})

it('writes five different errors in a minute, and counts the rest', () => {
  for (let count = 0; count < 1000; count += 1) report(`id-${count}`)
  expect(lines()).toHaveLength(5)
  now += 60_000
  report('next')
  expect(lines().slice(5)).toEqual([
    'kubecred: internal errors not written: 995',
    'kubecred: internal error next',
  ])
})

it('writes the remaining counts at the end', () => {
  report('aaaaaaaa')
  report('aaaaaaaa')
  for (let count = 0; count < 5; count += 1) report(`id-${count}`)
  errors.end()
  expect(lines().slice(5)).toEqual([
    'kubecred: internal error aaaaaaaa, once more since it was last written',
    'kubecred: internal errors not written: 1',
  ])
  errors.end()
  expect(lines()).toHaveLength(7)
})

it('escapes control characters', () => {
  errors.report({ id: 'aaaaaaaa', message: '', stack: 'Error: \u001b[2J' })
  expect(written).not.toContain('\u001b')
})
