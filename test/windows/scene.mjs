// What the tests on Windows share: a server in this process, plugins of each kind, and folders of their own.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { startSandbox } from '@kubecred/sandbox'

const isWine = existsSync(join(process.env.SystemRoot, 'System32', 'wineboot.exe'))

/** Why a test is skipped under Wine: false on a real Windows. */
export const onlyOnWindows = isWine && 'Wine is too different there: docs/windows.md'

/** Why a test with a stand-in for a program of Windows is skipped. */
export const onlyUnderWine = !isWine && 'Windows has the program'

/** Starts a server for all tests of a file. */
export async function startScene() {
  const sandbox = await startSandbox()
  const folder = mkdtempSync(join(tmpdir(), 'kubecred test '))
  after(async () => {
    await sandbox.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return { sandbox, folder }
}

/** Writes a file below a folder, and returns its path. */
export function put(folder, name, text) {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

// A plugin: prints the token in TOKEN, and writes its arguments and variables to the file in SEEN.
const PLUGIN = `
import { writeFileSync } from 'node:fs'
const { SEEN, TOKEN } = process.env
writeFileSync(SEEN, JSON.stringify({ args: process.argv.slice(2), env: process.env, cwd: process.cwd() }))
console.log(JSON.stringify({
  apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: TOKEN },
}))
`

/** Writes a plugin as npm installs it: a script, and a batch file that runs it with all arguments. */
export function putPlugin(folder, name, { extension = '.cmd', code = PLUGIN } = {}) {
  const script = put(folder, `${name}.mjs`, code)
  const batch = `@echo off\r\n"${process.execPath}" "%~dp0${name}.mjs" %*\r\n`
  return { script, batch: put(folder, name + extension, batch) }
}

/** Returns the exec stanza for a plugin of {@link putPlugin}, and a function that reads what the plugin saw. */
export function stanzaFor(scene, command, args = []) {
  const file = join(scene.folder, `seen-${Math.random()}.json`)
  const { token } = scene.sandbox.issueToken({ user: 'jane' })
  // Node does not know Wine's version of Windows.
  const env = { SEEN: file, TOKEN: token, NODE_SKIP_PLATFORM_CHECK: '1' }
  const exec = { command, args, env }
  return { exec, seen: () => JSON.parse(readFileSync(file, 'utf8')) }
}

const BIN = join(import.meta.dirname, '../node_modules/@kubecred/cli/bin')

/** Runs one of our programs to its end. Not synchronously: the server is in this process. */
export function runProgram(name, args, { cwd, env }) {
  return new Promise((resolve, reject) => {
    const options = { cwd, env, timeout: 60_000 }
    const child = execFile(
      process.execPath,
      [join(BIN, name), ...args],
      options,
      (error, stdout, stderr) => {
        if (error !== null && typeof error.code !== 'number') reject(error)
        else resolve({ status: error?.code ?? 0, stdout, stderr })
      },
    )
    child.stdin?.end()
  })
}

/** Returns the variables of this process with a folder before the others in Path, whatever its name is written like. */
export function withPath(folder) {
  const others = Object.entries(process.env).filter(([name]) => name.toUpperCase() !== 'PATH')
  return { ...Object.fromEntries(others), Path: `${folder};${process.env.PATH}` }
}
