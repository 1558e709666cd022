// A server, a plugin whose runs are counted, and a client with the kubeconfig.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSandbox } from '@kubecred/sandbox'
import { connect } from 'kubecred'
import { Client } from './client.mjs'

/**
 * Runs some work with a client in a new sandbox, then stops the client and any process that its plugin left running.
 *
 * @param options.plugin Options of `sandbox.plugin()`, for a working plugin.
 * @param options.script Lines of shell, for a broken plugin.
 */
export async function inScene(command, { plugin, script }, work) {
  const sandbox = await startSandbox()
  const file = (name) => join(sandbox.folder, name)
  writeFileSync(file('pids'), '')
  const real = plugin && (await sandbox.plugin({ user: 'jane', ...plugin }))
  const lines = [
    '#!/bin/sh',
    `echo $$ >> '${file('pids')}'`,
    `[ -e '${file('broken')}' ] && exit 1`,
    script ?? `exec '${real.command}' ${real.args.join(' ')}`,
  ]
  writeFileSync(file('plugin'), `${lines.join('\n')}\n`, { mode: 0o700 })
  const exec = { command: file('plugin'), ...(real && { env: real.env }) }
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
  const pids = () => readFileSync(file('pids'), 'utf8').split('\n').filter(Boolean)
  const client = new Client(command)
  try {
    const { error } = await client.do('open', { kubeconfig })
    if (error !== undefined) throw new Error(`the client could not be opened: ${error}`)
    return await work(client, {
      sandbox,
      runs: () => pids().length,
      breakPlugin: () => writeFileSync(file('broken'), ''),
      healPlugin: () => rmSync(file('broken')),
      createNamespace: (name) => createNamespace(sandbox, name),
    })
  } finally {
    await client.end()
    for (const pid of pids()) endPlugin(pid)
    await sandbox.close()
  }
}

async function createNamespace(sandbox, name) {
  const { token } = sandbox.issueToken({ user: 'admin' })
  const cluster = await connect({ kubeconfig: sandbox.writeKubeconfig({ user: { token } }) })
  const { status } = await cluster.fetch('/api/v1/namespaces', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name } }),
  })
  await cluster.close()
  if (status !== 201) throw new Error(`the namespace was not created: ${status}`)
}

/** Kills a process only if it is still the script's. */
function endPlugin(pid) {
  try {
    if (/^(sleep|yes)\0/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))) process.kill(pid)
  } catch {
    // It has exited already.
  }
}
