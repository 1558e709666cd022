// `npm run test:bare`: runs a command (`npm test` by default) as on a machine that has Node, npm, git, a POSIX shell and
// coreutils, and nothing else. The command runs in a copy of this tree, as git would commit it, with an empty HOME and
// an empty npm cache; only the variables that npm needs to reach its registry are passed on.
//
//   node tools/bare.mjs                     npm test
//   node tools/bare.mjs npm start           the demo
import { spawn, spawnSync } from 'node:child_process'
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const NEEDED = [
  'node',
  'npm',
  'npx',
  'git',
  'sh',
  'cat',
  'chmod',
  'cp',
  'env',
  'ls',
  'mkdir',
  'mv',
  'rm',
  'sleep',
  'true',
  'uname',
]
/** The rest of coreutils. Some systems lack a few of them. */
const COREUTILS =
  'basename chgrp chown comm cut date dd df dirname du echo expr false fold head id install join kill link ln logname mkfifo mktemp nice nl nohup nproc od paste pr printenv printf pwd readlink realpath rmdir seq sha256sum sort split stat stty sync tail tee test timeout touch tr tsort tty unlink wc who whoami yes'.split(
    ' ',
  )
/** Variables that npm needs to reach its registry, and those of the terminal. */
const PASSED_ON =
  /^(npm_config_(registry|userconfig|globalconfig|ca|cafile|strict_ssl|proxy|https_proxy|noproxy)|https?_proxy|no_proxy|all_proxy|node_extra_ca_certs|ssl_cert_(file|dir)|tmpdir|lang|term|no_color)$/i

if (process.platform === 'win32') {
  process.stdout.write('skipped: a bare environment is made of links to POSIX programs\n')
  process.exit(0)
}

const [command = 'npm', ...args] = process.argv.length > 2 ? process.argv.slice(2) : ['npm', 'test']
const folder = mkdtempSync(join(tmpdir(), 'kubecred-bare-'))
const bin = join(folder, 'bin')
const home = join(folder, 'home')
const tree = join(folder, 'kubecred')
for (const each of [bin, home, tree]) mkdirSync(each)
linkPrograms()
copyTree()

const child = spawn(join(bin, command), args, { cwd: tree, env: environment(), stdio: 'inherit' })
// The terminal sends signals to the command too, and the command decides how to end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', (error) => process.stderr.write(`cannot run ${command}: ${error.message}\n`))
child.on('close', (status) => {
  rmSync(folder, { recursive: true, force: true })
  process.exitCode = status ?? 1
})

function linkPrograms() {
  for (const name of [...NEEDED, ...COREUTILS]) {
    const path = name === 'node' ? process.execPath : find(name)
    if (path !== undefined) symlinkSync(path, join(bin, name))
    else if (NEEDED.includes(name)) throw new Error(`${name} is not on PATH`)
  }
}

function find(name) {
  return (
    process.env.PATH.split(delimiter)
      // In an npm script PATH begins with the programs of this tree.
      .filter((each) => !each.includes('node_modules'))
      .map((each) => join(each, name))
      .find(isExecutable)
  )
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function copyTree() {
  const listed = spawnSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    },
  )
  if (listed.status !== 0) throw new Error(`git ls-files failed: ${listed.stderr}`)
  for (const name of listed.stdout.split('\0').filter(Boolean)) {
    // git still lists a removed file whose removal is not committed.
    if (!existsSync(join(root, name))) continue
    mkdirSync(dirname(join(tree, name)), { recursive: true })
    cpSync(join(root, name), join(tree, name), { verbatimSymlinks: true })
  }
}

function environment() {
  const userConfig = join(homedir(), '.npmrc')
  return {
    ...(existsSync(userConfig) && { npm_config_userconfig: userConfig }),
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => PASSED_ON.test(name))),
    npm_config_cache: join(home, '.npm'),
    PATH: bin,
    HOME: home,
  }
}
