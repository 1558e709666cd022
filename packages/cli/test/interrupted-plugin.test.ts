import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startSandbox } from '@kubecred/sandbox'
import { expect, it } from 'vitest'
import { runFake } from './run-fake.ts'

it('a plugin ended by Ctrl-C is an interruption, not an error of the plugin', async () => {
  const sandbox = await startSandbox()
  const command = join(sandbox.folder, 'interrupted.sh')
  writeFileSync(command, '#!/bin/sh\nkill -INT $$\n')
  chmodSync(command, 0o755)
  const kubeconfig = sandbox.writeKubeconfig({ user: { exec: { command } } })
  const { status, out, err } = await runFake(['whoami', '--kubeconfig', kubeconfig])
  expect({ status, out, err }).toEqual({ status: 130, out: '', err: '' })
  await sandbox.close()
})
