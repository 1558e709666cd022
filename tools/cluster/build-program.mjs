// Builds one program from its Go module.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { builtPath, cacheFolder } from './folders.mjs'

const TELL_MS = 15_000
const TAIL_LINES = 30

/**
 * Builds a program and moves it in place atomically.
 *
 * The program's module is a dependency of a small main module that is generated for it. So the staging modules of
 * Kubernetes, which its own go.mod replaces by folders of its tree, come from where they are published.
 */
export async function buildProgram(program, report) {
  const { name, go, main } = program
  const target = builtPath(program)
  mkdirSync(cacheFolder(), { recursive: true })
  const prefix = `.building-${name}-`
  removeLeftovers(prefix)
  const work = mkdtempSync(join(cacheFolder(), prefix))
  try {
    writeFileSync(join(work, 'go.mod'), goMod(go))
    const out = join(work, 'out', name)
    const source = main === undefined ? go.module : `${go.module}/${main}`
    const flags = ['-trimpath', '-mod=mod', '-ldflags', linkerFlags(go), '-o', out]
    // -v prints each package when it is compiled, which is the only progress that Go reports.
    await runGo(['build', '-v', ...flags, source], work, name, report)
    mkdirSync(dirname(target), { recursive: true })
    renameSync(out, target)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
  return target
}

/** Removes the folders of builds that were killed. The caller holds the lock, so no other build is running. */
function removeLeftovers(prefix) {
  const left = readdirSync(cacheFolder()).filter((name) => name.startsWith(prefix))
  for (const name of left) rmSync(join(cacheFolder(), name), { recursive: true, force: true })
}

function goMod({ module, version, replace = [] }) {
  const replaced = replace.map((line) => `replace ${line}\n`).join('')
  return `module cluster.invalid/build\n\ngo 1.26.0\n\nrequire ${module} ${version}\n\n${replaced}`
}

function linkerFlags({ variables = {} }) {
  const set = Object.entries(variables).map(([name, value]) => `-X ${name}=${value}`)
  return ['-s', '-w', ...set].join(' ')
}

function runGo(args, cwd, name, report) {
  const begun = Date.now()
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' }
  const child = spawn('go', args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] })
  const tail = []
  let packages = 0
  createInterface({ input: child.stderr }).on('line', (line) => {
    tail.push(line)
    if (tail.length > TAIL_LINES) tail.shift()
    if (/^[\w.-]+(\/[\w.-]+)*$/.test(line)) packages += 1
  })
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - begun) / 1000)
    report(
      `building ${name} for ${seconds} s, ${packages} packages compiled; now ${tail.at(-1) ?? 'reading modules'}`,
    )
  }, TELL_MS)
  // The compiler ends with this process.
  const end = (signal) => child.kill(signal)
  const onInterrupt = () => end('SIGINT')
  const onTerminate = () => end('SIGTERM')
  process.once('SIGINT', onInterrupt).once('SIGTERM', onTerminate)
  return new Promise((resolve, reject) => {
    child.once('error', (cause) => reject(new Error(`cannot run go: ${cause.message}`, { cause })))
    child.once('close', (status, signal) => {
      if (status === 0) return resolve()
      const words = tail.join('\n')
      reject(new Error(`go could not build ${name} (${signal ?? `status ${status}`}):\n${words}`))
    })
  }).finally(() => {
    clearInterval(timer)
    process.off('SIGINT', onInterrupt).off('SIGTERM', onTerminate)
  })
}
