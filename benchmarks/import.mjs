// The time of `import 'kubecred'` compared with undici, which it loads with the first request. Each in a new process,
// alternating; the median is used.
import { execFileSync } from 'node:child_process'
import { median, ratio } from './measure.mjs'

export const name = 'import of the library'

const ROUNDS = 15
const PACKAGES = ['kubecred', 'undici']

export async function run() {
  const times = Object.fromEntries(PACKAGES.map((each) => [each, []]))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const each of PACKAGES) times[each].push(timeOf(each))
  }
  const [own, undici] = PACKAGES.map((each) => median(times[each]))
  return [
    { what: "import 'kubecred' / import 'undici'", value: ratio(own, undici), target: '<= 0.5' },
  ]
}

function timeOf(specifier) {
  const program = `
    const begin = performance.now()
    await import('${specifier}')
    process.stdout.write(String(performance.now() - begin))
  `
  return Number(execFileSync(process.execPath, ['--input-type=module', '--eval', program]))
}
