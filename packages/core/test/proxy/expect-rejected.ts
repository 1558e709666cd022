import { expect } from 'vitest'
import { ask, BEARER, type Scene, SECRET } from './scene.ts'

/** The headers of a WebSocket request. */
export const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

/** Sends a request, and then the same as an upgrade, and expects that neither reaches the server. */
export async function expectRejected(
  scene: Scene,
  status: number,
  { path = '/api', headers = {} as Record<string, string | string[]> },
): Promise<void> {
  for (const more of [{}, UPGRADE]) {
    const answer = await ask(scene.port, { path, headers: { ...BEARER, ...headers, ...more } })
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.text)).toMatchObject({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: status,
      message: expect.stringMatching(/^kubecred proxy: /),
    })
    expect(answer.text).not.toContain(SECRET)
  }
  expect(scene.seen).toEqual([])
}
