// `npm start`: shows the program at work against a small API server that lives in this process.
// Nothing outside a temporary folder is touched, and nothing is left behind.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startSandbox } from '@kubecred/sandbox'

const program = fileURLToPath(
  new URL('dist/main.js', import.meta.resolve('@kubecred/cli/package.json')),
)
const { isTTY } = process.stdout
const bold = (text) => (isTTY && !process.env.NO_COLOR ? `\u001b[1m${text}\u001b[22m` : text)

const sandbox = await startSandbox()
// Children on a terminal get the signal too and end by themselves; the folder is ours to remove.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await sandbox.close()
    process.exit(signal === 'SIGINT' ? 130 : 143)
  })
}
try {
  await show()
} finally {
  await sandbox.close()
}

async function show() {
  const exec = await givePlugin('demo-login')
  const jane = sandbox.writeKubeconfig({ user: { exec }, path: join(sandbox.folder, 'jane') })
  const broken = sandbox.writeKubeconfig({
    user: {
      exec: {
        command: 'corp-login',
        installHint: 'Install corp-login: https://intranet.example/corp-login',
      },
    },
    path: join(sandbox.folder, 'broken'),
  })

  say(
    'An API server runs in this process, and a kubeconfig names the plugin "demo-login".',
    'Who does the server think we are? The plugin is run, its token is used and forgotten:',
  )
  await run(jane, ['whoami'])

  say('The same for any request; -v tells the story on standard error, never a secret:')
  await run(jane, ['fetch', '/api/v1/namespaces/default', '-v'])

  say(
    'Now the server refuses the first credential. The plugin runs again, the request goes through:',
  )
  refuseOnce()
  await run(jane, ['fetch', '/version', '-v'])

  say('And when something is wrong: whose fault it is, what was tried, and what to do.')
  await run(broken, ['whoami'])

  say(
    'That is all; the server ends with this program. Try it on a cluster of yours:',
    '  npx kubecred whoami',
    'Every command is in docs/cli.md.',
  )
}

/** Puts a plugin of the sandbox on PATH under a name that reads well. */
async function givePlugin(name) {
  const plugin = await sandbox.plugin({ user: 'jane', groups: ['developers'], lifeMs: 900_000 })
  if (process.platform === 'win32') return plugin
  const folder = join(sandbox.folder, 'bin')
  mkdirSync(folder)
  symlinkSync(plugin.command, join(folder, name))
  return { ...plugin, command: name }
}

function refuseOnce() {
  sandbox.respondWith(() => {
    sandbox.respondWith(undefined)
    return {
      status: 401,
      body: {
        kind: 'Status',
        apiVersion: 'v1',
        status: 'Failure',
        message: 'Unauthorized',
        code: 401,
      },
    }
  })
}

function say(...lines) {
  process.stdout.write(`\n${lines.join('\n')}\n\n`)
}

async function run(kubeconfig, args) {
  process.stdout.write(`${bold(`$ kubecred ${args.join(' ')}`)}\n`)
  // A short PATH, so that "looked in" stays readable; the plugin brings its interpreter's full path.
  const isWindows = process.platform === 'win32'
  const path = [join(sandbox.folder, 'bin'), isWindows ? process.env.PATH : '/usr/bin:/bin']
  const child = spawn(process.execPath, [program, ...args], {
    stdio: 'inherit',
    env: { ...process.env, KUBECONFIG: kubeconfig, PATH: path.join(delimiter) },
  })
  const [status] = await once(child, 'exit')
  process.stdout.write(`(exit status ${status})\n`)
}
