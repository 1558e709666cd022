import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loginViaClientNode } from 'kubecred/logins'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { describeUnmetEngines } from '../../src/logins/client-node.ts'
import { expectNoLeak } from '../fixtures/no-leak.ts'
import { CONTEXT, oneContext, ProgramFolder } from './scene.ts'

describe("the program's client-node", () => {
  let program: ProgramFolder
  beforeEach(() => {
    program = new ProgramFolder()
    vi.stubEnv('HOME', program.folder)
    vi.stubEnv('KUBECONFIG', program.kubeconfig('k', oneContext({ server: 'https://one' }, {})))
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    program[Symbol.dispose]()
  })
  const log = () => loginViaClientNode(CONTEXT)

  it('does not apply if it is missing, although ours could be found from here', async () => {
    program.start()
    expect(await log()).toBeUndefined()
  })

  it('is found from the main script, from a started folder, and through a symlink', async () => {
    program.link('@kubernetes/client-node')
    for (const script of ['main.mjs', 'src/deep/main.mjs', '.']) {
      program.start(script)
      expect((await log())?.server, script).toBe('https://one')
    }
    using elsewhere = new ProgramFolder()
    program.write('main.mjs', '')
    symlinkSync(join(program.folder, 'main.mjs'), join(elsewhere.folder, 'bin'))
    elsewhere.start('bin')
    expect((await log())?.server).toBe('https://one')
  })

  it('is found through a symlink as pnpm makes them', async () => {
    const store = 'node_modules/.pnpm/@kubernetes+client-node@1.4.0'
    program.write(`${store}/main`, '')
    program.link(
      `.pnpm/@kubernetes+client-node@1.4.0/node_modules/client`,
      '@kubernetes/client-node',
    )
    mkdirSync(join(program.folder, 'node_modules/@kubernetes'), { recursive: true })
    symlinkSync(
      join(program.folder, store, 'node_modules/client'),
      join(program.folder, 'node_modules/@kubernetes/client-node'),
    )
    program.start()
    expect((await log())?.server).toBe('https://one')
  })

  it('is not looked up in the current folder, whose content is not trusted', async () => {
    using hostile = new ProgramFolder()
    const name = 'node_modules/@kubernetes/client-node'
    hostile.write(`${name}/package.json`, '{"main": "index.js"}')
    hostile.write(`${name}/index.js`, 'globalThis.wasRun = true')
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(hostile.folder)
    program.start()
    expect(await log()).toBeUndefined()
    cwd.mockRestore()
    expect(globalThis).not.toHaveProperty('wasRun')
  })

  it('is looked up in the current folder without a main script, as Node does', async () => {
    program.link('@kubernetes/client-node')
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(program.folder)
    const { argv } = process
    process.argv = argv.slice(0, 1)
    expect((await log())?.server).toBe('https://one')
    process.argv = argv
    cwd.mockRestore()
  })

  it('may be CommonJS, as 0.x was', async () => {
    const name = 'node_modules/@kubernetes/client-node'
    program.write(`${name}/package.json`, '{"main": "index.js"}')
    const config = `{ getCurrentContext: () => 'x', getContextObject: () => ({ name: 'x', cluster: 'c', user: 'u' }),
      getCurrentCluster: () => ({ name: 'c', server: 'https://old' }), getCurrentUser: () => ({ name: 'u' }), loadFromDefault() {} }`
    program.write(`${name}/index.js`, `exports.KubeConfig = function () { return ${config} }`)
    program.start()
    expect((await log())?.server).toBe('https://old')
  })

  it.each([
    ['throws when it is loaded', 'throw new Error("for another Node")', 'for another Node'],
    ['has no KubeConfig', 'module.exports = {}', 'it has no KubeConfig'],
  ])('fails with the reason if it %s', async (_, code, reason) => {
    const name = 'node_modules/@kubernetes/client-node'
    program.write(`${name}/package.json`, '{"main": "index.js"}')
    program.write(`${name}/index.js`, code)
    program.start()
    await expect(log()).rejects.toMatchObject({
      code: 'ERR_LOGIN_TOOL_FAILED',
      tool: '@kubernetes/client-node',
      message: expect.stringMatching(new RegExp(`cannot be loaded from .*: ${reason}$`)),
      hint: expect.stringContaining(process.versions.node),
    })
  })

  it.each([
    ['itself', {}, '>=99', '@kubernetes/client-node needs Node >=99'],
    ['a dependency', { dependencies: { needy: '1' } }, undefined, 'needy needs Node >= 98.1'],
  ])(
    'is not loaded if %s needs a newer Node, because a failing import may end the process',
    async (_, more, node, reason) => {
      const name = 'node_modules/@kubernetes/client-node'
      const manifest = {
        name: '@kubernetes/client-node',
        main: 'dist/index.js',
        ...more,
        engines: { node },
      }
      program.write(`${name}/package.json`, JSON.stringify(manifest))
      program.write(`${name}/dist/index.js`, 'globalThis.wasRun = true')
      program.write('node_modules/needy/package.json', '{"engines": {"node": ">= 98.1"}}')
      program.start()
      await expect(log()).rejects.toMatchObject({
        code: 'ERR_LOGIN_TOOL_FAILED',
        message: expect.stringMatching(new RegExp(`: ${reason}$`)),
      })
      expect(globalThis).not.toHaveProperty('wasRun')
    },
  )

  it.each(['>=20', '>=20.19.0', '>= 4', '^18 || >=20', '*', 'nonsense'])(
    'may be loaded if it needs Node %s',
    (node) => {
      const other = 'node_modules/elsewhere/package.json'
      program.write(other, JSON.stringify({ name: 'elsewhere', engines: { node } }))
      expect(describeUnmetEngines('elsewhere', join(program.folder, other))).toBeUndefined()
    },
  )

  it('reads the kubeconfig again at each login', async () => {
    program.link('@kubernetes/client-node')
    program.start()
    expect((await log())?.server).toBe('https://one')
    program.kubeconfig('k', oneContext({ server: 'https://two' }, {}))
    expect((await log())?.server).toBe('https://two')
    program.kubeconfig('.kube/config', oneContext({ server: 'https://home' }, {}))
    vi.stubEnv('KUBECONFIG', '')
    expect((await log())?.server).toBe('https://home')
    rmSync(join(program.folder, '.kube'), { recursive: true })
    expect(await log()).toBeUndefined()
  })

  it.each([
    ['that is not there', undefined, /no such file/],
    ['that is not YAML', 'users: [{user: {token: s3cret-71c0\n\n', /not valid YAML \(line \d+\)/],
    ['that is empty', '', /it threw a TypeError/],
    [
      'with a cluster without a server',
      'clusters: [{name: s3, cluster: {}}]',
      /clusters\[0\]\.cluster is missing|server is missing/,
    ],
  ])('fails without quoting it if it cannot read a kubeconfig %s', async (_, text, reason) => {
    program.link('@kubernetes/client-node')
    program.start()
    const path = join(program.folder, 'other')
    if (text !== undefined) writeFileSync(path, text)
    vi.stubEnv('KUBECONFIG', path)
    const error = await log().catch((each) => each)
    expect(error).toMatchObject({
      code: 'ERR_LOGIN_TOOL_FAILED',
      message: expect.stringMatching(reason),
      hint: expect.stringContaining('loginWithKubeconfig'),
    })
    expectNoLeak([error], ['s3cret-71c0'])
  })
})
