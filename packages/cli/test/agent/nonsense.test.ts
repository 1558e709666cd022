import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { askAgent } from '../../src/agent/ask-agent.ts'
import { AgentFixture } from './agent-fixture.ts'

const agent = new AgentFixture()

describe('an agent that is sent nonsense', () => {
  it.each([
    ['garbage', Buffer.from([0, 255, 10])],
    ['an empty line', '\n'],
    ['null', 'null\n'],
    ['a list', '[]\n'],
    ['another word', '{"do":"dance"}\n'],
    ['half a request', '{"do":"get","path":"/bin/true"}\n'],
    ['a deposit that is none', '{"do":"deposit","outcome":{}}\n'],
    ['a prototype', '{"__proto__":{"do":"stop"}}\n'],
    ['two requests', '{"do":"status"}\n{"do":"dance"}\n'],
    ['a line without an end', 'x'.repeat(1024 * 1024 + 1)],
    ['far too much', `${'x'.repeat(8 * 1024 * 1024)}\n`],
  ])('answers %s and lives', async (_, text) => {
    await agent.serve()
    expect(await speak(text)).toMatch(/"is":"(?:failed|status)"/)
    expect(await agent.token(agent.request())).toBe('1')
  })

  it.each(['{}', '{', 'null', '{"kind":"ExecCredential","apiVersion":"v9"}'])(
    'says what is wrong with the exec info %j',
    async (execInfo) => {
      await agent.serve()
      const got = await askAgent(agent.place, agent.request(undefined, { execInfo }))
      expect(got).toMatchObject({ is: 'failed' })
      expect((await agent.status())?.entries).toEqual([])
    },
  )

  it('drops a deposit that nobody asked for', async () => {
    await agent.serve()
    const deposit =
      '{"do":"deposit","outcome":{"ended":"exited","status":0,"stdout":"","tookMs":1,"stderrTail":""}}\n'
    const socket = connect(agent.place.socket)
    socket.write(`${deposit}{"do":"status"}\n`)
    expect(await hear(socket)).toContain('"is":"status"')
  })

  it('serves others while a thousand connections say nothing, and keeps few of those', async () => {
    await agent.serve({ silentMs: 600_000 })
    const sockets: Socket[] = []
    let ended = 0
    for (let count = 0; count < 1000; count += 1) {
      const socket = connect(agent.place.socket)
      sockets.push(socket)
      void hear(socket).then(() => {
        ended += 1
      })
    }
    expect(await agent.token(agent.request())).toBe('1')
    while (ended < 800) await agent.status()
    for (const socket of sockets) socket.destroy()
  })

  it('ends a connection that says nothing, or not all of it', async () => {
    await agent.serve({ silentMs: 50 })
    expect(await hear(connect(agent.place.socket))).toBe('')
    expect(await speak('{"do":')).toBe('')
  })
})

function speak(text: string | Buffer): Promise<string> {
  const socket = connect(agent.place.socket)
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
