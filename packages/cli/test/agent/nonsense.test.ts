import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { askAgent } from '../../src/agent/ask-agent.ts'
import { AgentFixture } from './agent-fixture.ts'

const agent = new AgentFixture()

describe('an agent that receives malformed data', () => {
  it.each([
    ['garbage', Buffer.from([0, 255, 10])],
    ['an empty line', '\n'],
    ['null', 'null\n'],
    ['a list', '[]\n'],
    ['an unknown request', '{"do":"dance"}\n'],
    ['an incomplete request', '{"do":"get","path":"/bin/true"}\n'],
    ['an empty deposit', '{"do":"deposit","outcome":{}}\n'],
    ['a prototype', '{"__proto__":{"do":"stop"}}\n'],
    ['two requests', '{"do":"status"}\n{"do":"dance"}\n'],
    ['an unterminated line', 'x'.repeat(1024 * 1024 + 1)],
    ['far too much', `${'x'.repeat(8 * 1024 * 1024)}\n`],
  ])('answers %s and keeps running', async (_, text) => {
    await agent.serve()
    expect(await speak(text)).toMatch(/"is":"(?:failed|status)"/)
    expect(await agent.token(agent.request())).toBe('1')
  })

  it.each(['{}', '{', 'null', '{"kind":"ExecCredential","apiVersion":"v9"}'])(
    'explains what is wrong with the exec info %j',
    async (execInfo) => {
      await agent.serve()
      const got = await askAgent(agent.paths, agent.request(undefined, { execInfo }))
      expect(got).toMatchObject({ is: 'failed' })
      expect((await agent.status())?.entries).toEqual([])
    },
  )

  it('drops an unexpected deposit', async () => {
    await agent.serve()
    const deposit =
      '{"do":"deposit","outcome":{"ended":"exited","status":0,"stdout":"","tookMs":1,"stderrTail":""}}\n'
    const socket = connect(agent.paths.socket)
    socket.write(`${deposit}{"do":"status"}\n`)
    expect(await hear(socket)).toContain('"is":"status"')
  })

  it('serves clients while a thousand connections send nothing, and closes most of those', async () => {
    await agent.serve({ requestTimeoutMs: 600_000 })
    const sockets: Socket[] = []
    let ended = 0
    for (let count = 0; count < 1000; count += 1) {
      const socket = connect(agent.paths.socket)
      sockets.push(socket)
      void hear(socket).then(() => {
        ended += 1
      })
    }
    expect(await agent.token(agent.request())).toBe('1')
    while (ended < 800) await agent.status()
    for (const socket of sockets) socket.destroy()
  })

  it('closes a connection that sends nothing, or only part of a request', async () => {
    await agent.serve({ requestTimeoutMs: 50 })
    expect(await hear(connect(agent.paths.socket))).toBe('')
    expect(await speak('{"do":')).toBe('')
  })
})

function speak(text: string | Buffer): Promise<string> {
  const socket = connect(agent.paths.socket)
  socket.write(text)
  return hear(socket)
}

function hear(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let heard = ''
    socket.on('error', () => {})
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      heard += chunk
    })
    socket.once('close', () => resolve(heard))
  })
}
