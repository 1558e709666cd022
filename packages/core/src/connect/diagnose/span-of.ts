const UNITS = [
  ['days', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** A time span in one unit, as people say it: `11 min`, `3 h`, `40 ms`. */
export function spanOf(milliseconds: number): string {
  const [name, size] = UNITS.find(([, each]) => milliseconds >= each) ?? ['ms', 1]
  const number = milliseconds / size
  // One digit more where it matters: 1.5 s is not 2 s.
  const shown =
    name === 's' && number < 10 ? number.toFixed(1).replace('.0', '') : Math.floor(number)
  return `${shown} ${name === 'days' && shown === 1 ? 'day' : name}`
}
