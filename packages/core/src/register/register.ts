// `node --import kubecred/register PROGRAM`: what `kubecred run` does, inside the process of the program.
//
// The proxy is in a worker thread, because a program may block its main thread: while `execFileSync('kubectl')` waits for
// kubectl, the proxy must answer kubectl. The main thread waits here until the worker has logged in, so that the program
// never sees the environment without the proxy. It waits without `await`: then `--require` works as well.
//
// This file imports little, because every start of the program loads it in its main thread.
import { existsSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import process from 'node:process'
import {
  isMainThread,
  MessageChannel,
  receiveMessageOnPort,
  Worker,
  type WorkerOptions,
  workerData,
} from 'node:worker_threads'
import { hostEnvironment, RUNTIME } from '../node/environment.ts'
import { type Answer, enter, STATE, TASK, type WorkerTask } from './worker-task.ts'

const USAGE = 2
const UNEXPECTED = 70
/** A thread starts within milliseconds, or never. */
const START_LIMIT_MS = 60_000
/** It counts while it logs in. If it does not for so long, it has ended. */
const SILENCE_LIMIT_MS = 30_000
/** How long the end of the process waits for the worker to end plugins that run. */
const END_LIMIT_MS = 1000

if (isMainThread) register(hostEnvironment())
// Workers of the program have the environment of its main thread.
else if (workerData?.task === TASK) void import('./serve.ts').then(({ serve }) => serve(workerData))

function register(env: NodeJS.ProcessEnv): void {
  if (RUNTIME !== 'Node') {
    stop(`kubecred/register needs Node; use: kubecred run -- ${RUNTIME.toLowerCase()} …`, USAGE)
  }
  // A plugin or signer of the program, with its NODE_OPTIONS: a proxy for it would run the plugin again.
  if (env['KUBERNETES_EXEC_INFO'] !== undefined) return
  if (env['EXTERNAL_SIGNER_PLUGIN_CONFIG'] !== undefined) return
  if (hasProxy(env)) return
  const answer = start(env)
  if ('fault' in answer) stop(answer.fault, answer.exitStatus)
  for (const name of Object.keys(env)) if (!Object.hasOwn(answer.env, name)) delete env[name]
  Object.assign(env, answer.env)
}

/** Whether a process above this one has a proxy: `kubecred run`, or a program with this module. */
function hasProxy({ KUBECONFIG, KUBECRED_CA }: NodeJS.ProcessEnv): boolean {
  if (!KUBECONFIG || !KUBECRED_CA || dirname(KUBECONFIG) !== dirname(KUBECRED_CA)) return false
  if (!existsSync(KUBECONFIG)) {
    const shown = JSON.stringify(KUBECONFIG)
    stop(`${shown} does not exist: the program that this one belongs to has ended`, USAGE)
  }
  return true
}

/** Starts the worker, and waits for its answer. */
function start(env: NodeJS.ProcessEnv): Answer {
  const { port1: port, port2 } = new MessageChannel()
  const state = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
  const task: WorkerTask = { task: TASK, env: { ...env }, port: port2, state }
  const { NODE_OPTIONS: _, ...workerEnv } = env
  const worker = startWorker({
    workerData: task,
    transferList: [port2],
    // Neither the preloaded modules of the program nor its flags.
    execArgv: [],
    argv: [],
    env: workerEnv,
    name: 'kubecred',
  })
  if (Atomics.wait(state, 0, STATE.new, START_LIMIT_MS) === 'timed-out') noThread('it is too late')
  waitForAnswer(state)
  const received = receiveMessageOnPort(port)
  if (received === undefined) stop('its thread has ended; it may need more memory', UNEXPECTED)
  const answer: Answer = received.message
  // The program ends when it has nothing left to do, as without us.
  worker.unref()
  // The worker itself writes its errors. This one is about its memory.
  worker.once('error', ({ message }) => warn(`the proxy has ended: ${message}`))
  worker.once('exit', () => enter(state, STATE.ended))
  if ('folder' in answer) {
    process.once('exit', () => {
      port.postMessage('end')
      Atomics.wait(state, 0, STATE.answered, END_LIMIT_MS)
      rmSync(answer.folder, { recursive: true, force: true })
    })
  }
  return answer
}

/** Waits for the answer, or until the worker has ended: one that runs out of memory says nothing. */
function waitForAnswer(state: Int32Array): void {
  let count = -1
  while (Atomics.wait(state, 0, STATE.running, SILENCE_LIMIT_MS) === 'timed-out') {
    const next = Atomics.load(state, 1)
    if (next === count) return
    count = next
  }
}

function startWorker(options: WorkerOptions): Worker {
  try {
    return new Worker(new URL(import.meta.url), options)
  } catch (error) {
    return noThread(String(error))
  }
}

function noThread(reason: string): never {
  stop(`kubecred/register needs a worker thread, which did not start: ${reason}`, UNEXPECTED)
}

function stop(fault: string, exitStatus: number): never {
  warn(fault)
  process.exit(exitStatus)
}

function warn(text: string): void {
  try {
    writeSync(2, `kubecred: ${text.trimEnd()}\n`)
  } catch {
    // Standard error is closed, or a pipe that is full.
  }
}
