import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatRfc3339, parseRfc3339 } from '../../src/formats/rfc3339.ts'

const anyDate = fc.date({
  min: new Date('0000-01-01T00:00:00.000Z'),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
})

describe('a timestamp is parsed', () => {
  it('like Date parses it, for every date with a four-digit year', () => {
    fc.assert(
      fc.property(anyDate, (date) => {
        expect(parseRfc3339(date.toISOString())).toBe(date.getTime())
      }),
    )
  })

  it('with every offset as Date reads it', () => {
    const offset = fc.tuple(
      fc.constantFrom('+', '-'),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 59 }),
    )
    fc.assert(
      fc.property(anyDate, offset, (date, [sign, hours, minutes]) => {
        const two = (value: number): string => String(value).padStart(2, '0')
        const text = date.toISOString().replace('Z', `${sign}${two(hours)}:${two(minutes)}`)
        expect(parseRfc3339(text)).toBe(Date.parse(text))
      }),
    )
  })

  it.each([
    { text: '2006-01-02T15:04:05Z', means: '2006-01-02T15:04:05.000Z' },
    { text: '2006-01-02T15:04:05.9Z', means: '2006-01-02T15:04:05.900Z' },
    { text: '2006-01-02T15:04:05.123456789Z', means: '2006-01-02T15:04:05.123Z' },
    { text: '2006-01-02T15:04:05.12345678901234Z', means: '2006-01-02T15:04:05.123Z' },
    { text: '2006-01-02T15:04:05+07:00', means: '2006-01-02T08:04:05.000Z' },
    { text: '2006-01-02T15:04:05-00:00', means: '2006-01-02T15:04:05.000Z' },
    { text: '2024-02-29T00:00:00Z', means: '2024-02-29T00:00:00.000Z' },
    { text: '2000-02-29T00:00:00Z', means: '2000-02-29T00:00:00.000Z' },
    { text: '0001-01-01T00:00:00Z', means: '0001-01-01T00:00:00.000Z' },
  ])('$text', ({ text, means }) => {
    expect(new Date(parseRfc3339(text) ?? Number.NaN).toISOString()).toBe(means)
  })
})

describe('a timestamp is rejected', () => {
  it.each([
    { text: '', because: 'it is empty' },
    { text: '2006-01-02', because: 'it has no time' },
    { text: '2006-01-02T15:04:05', because: 'it has no offset' },
    { text: '2006-01-02 15:04:05Z', because: 'it has a space in place of T' },
    { text: '2006-01-02t15:04:05Z', because: 'T is in lower case' },
    { text: '2006-01-02T15:04:05z', because: 'Z is in lower case' },
    { text: '2006-01-02T15:04Z', because: 'it has no seconds' },
    { text: '2006-01-02T15:04:05.Z', because: 'nothing follows the point' },
    { text: '2006-01-02T15:04:05+0700', because: 'the offset has no colon' },
    { text: '2006-01-02T15:04:05+24:00', because: 'the offset is 24 hours' },
    { text: '2006-01-02T15:04:05+07:60', because: 'the offset has 60 minutes' },
    { text: '2006-13-02T15:04:05Z', because: 'there is no month 13' },
    { text: '2006-00-02T15:04:05Z', because: 'there is no month 0' },
    { text: '2006-04-31T15:04:05Z', because: 'April has 30 days' },
    { text: '2023-02-29T15:04:05Z', because: 'it is not a leap year' },
    { text: '1900-02-29T15:04:05Z', because: 'most centuries are not leap years' },
    { text: '2006-01-00T15:04:05Z', because: 'there is no day 0' },
    { text: '2006-01-02T24:00:00Z', because: 'the hour is 24' },
    { text: '2006-01-02T15:60:05Z', because: 'the minute is 60' },
    { text: '2016-12-31T23:59:60Z', because: 'Go does not support leap seconds' },
    { text: '206-01-02T15:04:05Z', because: 'the year has three digits' },
    { text: '12006-01-02T15:04:05Z', because: 'the year has five digits' },
    { text: '-2006-01-02T15:04:05Z', because: 'the year is negative' },
    { text: ' 2006-01-02T15:04:05Z', because: 'it starts with a space' },
    { text: '2006-01-02T15:04:05Z\n', because: 'it ends with a line break' },
    { text: 'Jan 2 2006', because: 'only Date.parse accepts it' },
    { text: '1136214245', because: 'it is a Unix time' },
  ])('because $because', ({ text }) => {
    expect(parseRfc3339(text)).toBeUndefined()
  })
})

describe('a time is formatted', () => {
  it('so that parsing returns the same time', () => {
    fc.assert(
      fc.property(anyDate, (date) => {
        expect(parseRfc3339(formatRfc3339(date.getTime()))).toBe(date.getTime())
      }),
    )
  })

  it.each([
    { time: Date.UTC(2030, 0, 31, 12), text: '2030-01-31T12:00:00Z' },
    { time: Date.UTC(2030, 0, 31, 12, 0, 0, 50), text: '2030-01-31T12:00:00.050Z' },
    { time: -1, text: '1969-12-31T23:59:59.999Z' },
  ])('as $text', ({ time, text }) => {
    expect(formatRfc3339(time)).toBe(text)
  })
})
