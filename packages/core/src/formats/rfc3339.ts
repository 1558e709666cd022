const SHAPE = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$/

const MS_PER_MINUTE = 60_000
const MS_PER_DAY = 86_400_000

/**
 * Parses an RFC 3339 timestamp as strictly as Go does: date, `T`, time and offset are required, letters in upper case.
 *
 * `Date.parse` also accepts `2006-01-02` and `Jan 2 2006`, which Kubernetes does not. A leap second is rejected, as in
 * Go. Digits beyond milliseconds are dropped.
 *
 * @returns Milliseconds since the epoch, or undefined for anything else.
 */
export function parseRfc3339(text: string): number | undefined {
  const match = SHAPE.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as Six
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const offset = readOffset(match[8], match[9], match[10])
  if (offset === undefined) return undefined
  const milliseconds = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'))
  const time = ((hour * 60 + minute) * 60 + second) * 1000 + milliseconds
  return daysSinceEpoch(year, month, day) * MS_PER_DAY + time - offset
}

/** The zero value of Go's `time.Time`. */
const GO_ZERO_TIME = -62_135_596_800_000

/**
 * Parses the expiry of a credential. Go's zero time, which programs write if they set no expiry, means no expiry.
 *
 * @returns Milliseconds since the epoch, `Infinity` for no expiry, or undefined for anything that is not RFC 3339.
 */
export function parseExpiration(text: string): number | undefined {
  const time = parseRfc3339(text)
  return time !== undefined && time <= GO_ZERO_TIME ? Number.POSITIVE_INFINITY : time
}

/** The limit of `Date`, in seconds. */
const MAX_SECONDS = 8.64e12

/** Whether a number is a time in seconds since the epoch. One beyond the limit of `Date` is not, and cannot be shown. */
export function isUnixTime(seconds: number): boolean {
  return Math.abs(seconds) <= MAX_SECONDS
}

/** Formats a time as RFC 3339 in UTC, with a fraction only if it is not zero. */
export function formatRfc3339(milliseconds: number): string {
  const days = Math.floor(milliseconds / MS_PER_DAY)
  const rest = milliseconds - days * MS_PER_DAY
  const [year, month, day] = civilFromDays(days)
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const fraction = rest % 1000 === 0 ? '' : `.${String(rest % 1000).padStart(3, '0')}`
  const time = `${two(rest / 3_600_000)}:${two((rest / 60_000) % 60)}:${two((rest / 1000) % 60)}`
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${time}${fraction}Z`
}

type Six = [number, number, number, number, number, number]

function readOffset(sign?: string, hours?: string, minutes?: string): number | undefined {
  if (sign === undefined) return 0
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined
  const size = (Number(hours) * 60 + Number(minutes)) * MS_PER_MINUTE
  return sign === '-' ? -size : size
}

function daysIn(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

// Conversion between days and dates of the proleptic Gregorian calendar. Years start in March here, so that the leap
// day is last.
function daysSinceEpoch(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

function civilFromDays(days: number): [number, number, number] {
  const z = days + 719_468
  const era = Math.floor(z / 146_097)
  const dayOfEra = z - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shifted = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shifted < 10 ? shifted + 3 : shifted - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return [year, month, dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1]
}
