import { openHttp2 } from 'kubecred/http2'
import type { Driver } from '../driver.ts'

const NO_UPGRADE =
  'A WebSocket over HTTP/2 needs RFC 8441, which kube-apiserver does not offer; kubecred/ws opens one.'

export const http2Driver: Driver = {
  name: 'kubecred/http2',
  tellsErrors: 'as it is',
  cannot: { upgrade: NO_UPGRADE, 'upgrade refused once': NO_UPGRADE },
  takesPaths: true,
  async open(cluster) {
    const client = openHttp2(cluster)
    return {
      async send({ method = 'GET', server, path, headers = {}, body, signal }) {
        const {
          status,
          headers: answered,
          stream,
        } = await client.request(
          {
            ...headers,
            ':method': method,
            ':path': path,
            ...(server !== undefined && { ':authority': new URL(server).host }),
          },
          { ...(body !== undefined && { body }), ...(signal && { signal }) },
        )
        return { status, headers: answered, body: stream }
      },
      close: () => client.close(),
    }
  },
}
