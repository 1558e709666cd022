import { HandshakeError } from '../../../packages/core/src/tls/alert.ts'
import { CLIENT_AUTHENTICATION } from '../../../packages/core/test/tls/rfc8448.ts'
import { play, playable } from '../../../packages/core/test/tls/tracked-handshake.ts'
import { type FuzzTarget, must, resultOf } from '../fuzz-target.ts'

/** The bytes of a server in a handshake, from RFC 8448. */
export const tlsFlights: FuzzTarget = {
  name: 'tls-flights',
  about: 'a changed flight is rejected, or has the transcript of the unchanged one',
  async open() {
    const good = playable(CLIENT_AUTHENTICATION)
    const digest = play(good).transcript.digest().toString('hex')
    return {
      corpus: [Buffer.concat(good.server)],
      words: ['\u0014\u0003\u0003\u0000\u0001\u0001', '\u0015\u0003\u0003\u0000\u0002\u0002\u0028'],
      check(input) {
        const played = resultOf(() => play({ ...good, server: [input] }))
        if ('error' in played) {
          if (!(played.error instanceof HandshakeError)) throw played.error
          return
        }
        const found = played.value.transcript.digest().toString('hex')
        must(found === digest, 'a changed flight has a transcript of its own')
      },
    }
  },
}
