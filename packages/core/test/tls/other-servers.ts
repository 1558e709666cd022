import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { authority, server } from './tls-server.ts'

/** Whether a program is installed. With CI=true, tools/system-packages.mjs has installed it or failed. */
export function isThere(command: string, ...probe: readonly string[]): boolean {
  return spawnSync(command, probe, { stdio: 'ignore' }).status === 0
}

export interface Program extends AsyncDisposable {
  readonly port: number
  readonly child: ChildProcessWithoutNullStreams
  /** Everything that it has printed. */
  said(): string
}

/** Starts a third-party TLS server that requires a client certificate of the test CA. */
export async function startProgram(
  command: string,
  args: (files: Files, port: number) => readonly string[],
): Promise<Program> {
  const files = writeFiles()
  const port = await freePort()
  const program = run(command, args(files, port), files)
  await untilOpen(port, program.child)
  return { port, ...program }
}

/** Starts the Go server. */
export async function startGo(build: GoBuild, ...options: readonly string[]): Promise<Program> {
  const files = writeFiles()
  const { cert, key, ca } = files
  const program = run(build.file, ['-cert', cert, '-key', key, '-ca', ca, ...options], files)
  const [line] = (await once(program.child.stdout, 'data')) as [Buffer]
  return { port: Number(line), ...program }
}

export interface GoBuild extends Disposable {
  readonly file: string
}

export function buildGo(): GoBuild {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-go-'))
  const file = join(folder, 'server')
  const source = fileURLToPath(new URL('go/server.go', import.meta.url))
  const { status, stderr } = spawnSync('go', ['build', '-o', file, source], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`go did not build the server: ${stderr}`)
  return { file, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) }
}

interface Files extends Disposable {
  readonly cert: string
  readonly key: string
  readonly ca: string
}

function writeFiles(): Files {
  const folder = mkdtempSync(join(tmpdir(), 'kubecred-tls-'))
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 })
    return join(folder, name)
  }
  return {
    cert: write('cert.pem', server.chain),
    key: write('key.pem', server.key),
    ca: write('ca.pem', authority.ca),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

function run(command: string, args: readonly string[], files: Files): Omit<Program, 'port'> {
  const child = spawn(command, args)
  const exited = once(child, 'exit')
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1')
    })
  }
  child.stdin.on('error', () => {})
  return {
    child,
    said: () => said,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
      files[Symbol.dispose]()
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

async function untilOpen(port: number, child: ChildProcessWithoutNullStreams): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error('the server ended before it listened')
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await new Promise((turn) => setTimeout(turn, 20))
  }
}
