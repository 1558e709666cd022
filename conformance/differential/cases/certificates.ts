import type { DifferentialCase } from '../command.ts'
import { pair, withUser } from './with-user.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Client certificates and keys. */
export const certificates: readonly DifferentialCase[] = [
  {
    id: 'user-certificate-data',
    about: 'client certificate and key inline',
    play: withUser(async (scene) => {
      const { certificate, key } = await scene.certificate('jane')
      return {
        'client-certificate-data': base64(certificate),
        'client-key-data': base64(key),
      }
    }),
  },
  {
    id: 'user-certificate-files',
    about: 'client certificate and key in files',
    play: withUser(async (scene) => {
      const { certificate, key } = await pair(scene, 'jane')
      return { 'client-certificate': certificate, 'client-key': key }
    }),
  },
  {
    id: 'user-certificate-mixed',
    about: 'client certificate in a file, key inline',
    play: withUser(async (scene) => {
      const { certificate } = await pair(scene, 'jane')
      const { key } = await scene.certificate('jane')
      return { 'client-certificate': certificate, 'client-key-data': base64(key) }
    }),
  },
  {
    id: 'user-certificate-file-and-data',
    about: 'client certificate both in a file and inline',
    play: withUser(async (scene) => {
      const { certificate, key } = await pair(scene, 'max')
      const inline = await scene.certificate('jane')
      return {
        'client-certificate': certificate,
        'client-key': key,
        'client-certificate-data': base64(inline.certificate),
        'client-key-data': base64(inline.key),
      }
    }),
  },
  {
    id: 'user-certificate-without-key',
    about: 'client certificate without a key',
    play: withUser(async (scene) => ({
      'client-certificate': (await pair(scene, 'jane')).certificate,
    })),
  },
  {
    id: 'user-key-without-certificate',
    about: 'client key without a certificate',
    play: withUser(async (scene) => ({ 'client-key': (await pair(scene, 'jane')).key })),
  },
  {
    id: 'user-certificate-file-missing',
    about: 'client certificate whose file does not exist',
    play: withUser(() => ({ 'client-certificate': 'no.crt', 'client-key': 'no.key' })),
  },
  {
    id: 'user-certificate-of-another-key',
    about: 'client certificate that does not fit its key',
    play: withUser(async (scene) => ({
      'client-certificate': (await pair(scene, 'jane')).certificate,
      'client-key': (await pair(scene, 'max')).key,
    })),
  },
  {
    id: 'user-certificate-no-pem',
    about: 'client certificate that is not PEM',
    play: withUser(() => ({
      'client-certificate-data': base64('no'),
      'client-key-data': base64('no'),
    })),
  },
  {
    id: 'user-certificate-no-base64',
    about: 'client certificate that is not base64',
    play: withUser(() => ({ 'client-certificate-data': '%%', 'client-key-data': '%%' })),
  },
  {
    id: 'user-certificate-and-token',
    about: 'client certificate and token together',
    play: withUser(async (scene) => {
      const { certificate, key } = await pair(scene, 'jane')
      return {
        'client-certificate': certificate,
        'client-key': key,
        token: scene.token('max'),
      }
    }),
  },
  {
    id: 'user-certificate-refused',
    about: 'client certificate of an unknown authority',
    play: withUser(async (scene) => {
      const { certificate, key } = await pair(scene, 'bad-jane')
      return { 'client-certificate': certificate, 'client-key': key }
    }),
  },
]
