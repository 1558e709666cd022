import { Readable } from 'node:stream'
import { expect } from 'vitest'
import { asAdmin, seen } from '../admin.ts'
import type { Driver, Sent } from '../driver.ts'
import { Scene } from '../scene.ts'

const PATH = '/api/v1/namespaces/default/configmaps'
/** More than fits into one packet, and not only ASCII. */
const DATA = { text: 'Grüße, 世界. '.repeat(5000) }

const BODIES: Readonly<Record<'string' | 'buffer' | 'stream', (text: string) => Sent['body']>> = {
  string: (text) => text,
  buffer: (text) => Buffer.from(text),
  stream: (text) => Readable.from(inPieces(Buffer.from(text))),
}

/** The body arrives completely although the first response is a 401, and creates one object. */
export function postOf(kind: keyof typeof BODIES): (driver: Driver) => Promise<void> {
  return async (driver) => {
    await using scene = await Scene.withPlugin(driver)
    const { sandbox } = scene
    await scene.ask()
    scene.revoke('jane')
    const body = BODIES[kind](JSON.stringify({ metadata: { name: 'made' }, data: DATA }))
    const answer = await scene.ask({
      method: 'POST',
      path: PATH,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    })
    expect(answer.status).toBe(201)
    const posts = seen(sandbox).filter(({ method }) => method === 'POST')
    expect(posts.map(({ status }) => status)).toEqual([401, 201])
    const { text } = await asAdmin(sandbox, 'GET', `${PATH}/made`)
    expect(JSON.parse(text)).toMatchObject({ data: DATA })
  }
}

function* inPieces(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += 10_000) yield content.subarray(at, at + 10_000)
}
