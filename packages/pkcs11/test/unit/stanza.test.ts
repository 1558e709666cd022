import { describe, expect, it } from 'vitest'
import { parseYaml } from '../../../core/src/formats/yaml.ts'
import { configurationFor, stanzaFor } from '../../src/list/stanza.ts'
import type { Token } from '../../src/tokens.ts'

const token = (label: string, serial: string): Token => ({
  slot: Buffer.alloc(8),
  slotId: 1n,
  label,
  serial,
  manufacturer: '',
  model: '',
  flags: 0,
  minPinLength: 4,
  maxPinLength: 8,
})
const place = { library: '/lib/p11.so', program: '/bin/signer' }
const entry = { id: '02', labels: ['work'] }

describe('a stanza', () => {
  it('names the token by its label, never by its slot', () => {
    const kube = token('kube', '1')
    const config = configurationFor(entry, { ...place, token: kube, tokens: [kube] })
    expect(config).toEqual({
      pathExec: '/bin/signer',
      pathLib: '/lib/p11.so',
      tokenLabel: 'kube',
      objectIdHex: '02',
    })
  })

  it.each(['twin', ''])('names the token by its serial if the label %j is not unique', (label) => {
    const [one, two] = [token(label, '1'), token(label, '2')]
    const config = configurationFor(entry, { ...place, token: one, tokens: [one, two] })
    expect(config).toMatchObject({ tokenSerial: '1' })
    expect(config).not.toHaveProperty('tokenLabel')
  })

  it('names a key without an id by its label', () => {
    const kube = token('kube', '1')
    const named = { id: '', labels: ['work'] }
    const config = configurationFor(named, { ...place, token: kube, tokens: [kube] })
    expect(config).toMatchObject({ objectLabel: 'work' })
  })

  it('is YAML in which every value is a string', () => {
    const config = { tokenLabel: 'it\'s: "ä" #1', objectIdHex: '02', tokenSerial: '0012' }
    const read = parseYaml(stanzaFor('no', config).join('\n')) as { users: unknown[] }
    expect(read.users[0]).toEqual({
      name: 'no',
      user: { 'auth-provider': { name: 'externalSigner', config } },
    })
  })
})
