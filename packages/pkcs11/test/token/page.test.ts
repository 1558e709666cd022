import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NAMES } from '../../src/configuration.ts'
import { HELP } from '../../src/help-text.ts'
import { hasSoftHsm } from '../soft-token.ts'
import { PROGRAM } from '../spawn-signer.ts'

const page = readFileSync(new URL('../../../../docs/pkcs11.md', import.meta.url), 'utf8')
const walk = [...page.matchAll(/^```sh walk\n([\s\S]*?)^```/gm)].map(([, block]) => block).join('')

let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'kubecred-walk-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

describe('docs/pkcs11.md', () => {
  it('shows what --help prints', () => {
    expect(page).toContain(`\n$ kubecred-pkcs11 --help\n${HELP}\`\`\`\n`)
  })

  it('documents every name of the configuration', () => {
    for (const name of NAMES) expect(page).toContain(`\`${name}\``)
  })

  it.skipIf(!hasSoftHsm)('has commands for SoftHSM that work', () => {
    const bin = join(home, 'bin')
    mkdirSync(bin)
    const program = join(bin, 'kubecred-pkcs11')
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`)
    chmodSync(program, 0o755)
    // The CA of the cluster, which the page takes for granted.
    const authority =
      'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=ca -keyout ca.key -out ca.crt\n'
    const { stdout, status, stderr } = spawnSync('sh', ['-ec', authority + walk], {
      cwd: home,
      env: { PATH: `${bin}:${process.env['PATH']}`, HOME: home },
      encoding: 'utf8',
    })
    expect([status, stderr.includes('rror')]).toEqual([0, false])
    const [, entry = ''] = /(users:[\s\S]*)$/.exec(stdout) ?? []
    const shown = entry
      .replace(/^ {6}/gm, '')
      .replace(/pathExec: .*/, 'pathExec: "/usr/local/bin/kubecred-pkcs11"')
    expect(page).toContain(`\`\`\`yaml\n${shown}\`\`\``)
  })
})
