import type { Browser, CDPSession } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { BEARER, type Scene, startScene } from '../../../core/test/proxy/scene.ts'
import { hasBrowser, launchBrowser } from './browser.ts'

const SERVICE = '/api/v1/namespaces/default/services/shop/proxy/'

/** A page that an attacker could serve from the cluster: it tries everything to use the proxy's credential. */
const HOSTILE = `<!doctype html><title>shop</title><h1>shop</h1>
<script>document.title = 'taken'; fetch('/api/v1/secrets')</script>
<img src="/api/v1/secrets?img" onerror="document.title = 'taken'">
<iframe src="/api/v1/secrets?frame"></iframe>
<link rel="stylesheet" href="/api/v1/secrets?style">
<form action="/api/v1/namespaces" method="post"><button id="send">free gift</button></form>
<meta http-equiv="refresh" content="0; url=/api/v1/secrets?refresh">`

describe.skipIf(!hasBrowser)(
  'a hostile page behind a service (needs Chromium: apt-get install chromium)',
  () => {
    let browser: Browser
    let scene: Scene
    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())
    afterEach(() => scene[Symbol.asyncDispose]())

    it('cannot run scripts or send forms, and none of its requests reach the API', async () => {
      scene = await startScene((request, response) => {
        response.setHeader('content-type', 'text/html')
        response.setHeader('set-cookie', 'session=taken')
        response.end(request.url === SERVICE ? HOSTILE : 'secrets')
      })
      const context = await browser.newContext({ extraHTTPHeaders: BEARER })
      const tab = await context.newPage()
      // The worst case: the browser sends the secret with every request.
      await tab.goto(`${scene.url}${SERVICE}`, { waitUntil: 'load' })
      const devtools = await context.newCDPSession(tab)
      await clickOn(devtools, '#send')
      // Leaves time for requests that the page has started.
      await tab.waitForTimeout(500)
      // Not by script: none runs in a sandbox, not even ours.
      const { root } = await devtools.send('DOM.getDocument')
      const { outerHTML } = await devtools.send('DOM.getOuterHTML', { nodeId: root.nodeId })
      expect(outerHTML).toContain('<title>shop</title>')
      expect(await context.cookies()).toEqual([])
      expect(scene.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([`GET ${SERVICE}`])
      const others = scene.notes.filter(({ path }) => path !== SERVICE)
      expect(new Set(others.map(({ rejectedFor }) => rejectedFor))).toEqual(new Set(['the origin']))
      await context.close()
    })

    it('of another origin cannot use the proxy, even with the secret', async () => {
      scene = await startScene((_request, response) => response.end('{}'))
      const context = await browser.newContext()
      const tab = await context.newPage()
      await tab.route('http://evil.test/', (route) =>
        route.fulfill({ contentType: 'text/html', body: '<h1>evil</h1>' }),
      )
      await tab.goto('http://evil.test/')
      const tried = await tab.evaluate(
        async ([url, authorization]) => {
          const attempts = [
            () => fetch(`${url}/api`),
            () => fetch(`${url}/api`, { mode: 'no-cors' }),
            () => fetch(`${url}/api`, { headers: { authorization: authorization ?? '' } }),
          ]
          const ends = await Promise.allSettled(attempts.map((attempt) => attempt()))
          return ends.map((end) => (end.status === 'fulfilled' ? end.value.status : 'refused'))
        },
        [scene.url, BEARER.authorization],
      )
      // Some browsers give the page an opaque response (0), others none.
      expect(tried.filter((end) => end !== 'refused' && end !== 0)).toEqual([])
      expect(scene.seen).toEqual([])
      await context.close()
    })
  },
)

/** Clicks through the DevTools protocol, without a script in the page. */
async function clickOn(devtools: CDPSession, selector: string): Promise<void> {
  const { root } = await devtools.send('DOM.getDocument')
  const { nodeId } = await devtools.send('DOM.querySelector', { nodeId: root.nodeId, selector })
  const { model } = await devtools.send('DOM.getBoxModel', { nodeId })
  const [x = 0, y = 0] = model.content
  const where = { x: x + 2, y: y + 2, button: 'left', clickCount: 1 } as const
  await devtools.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...where })
  await devtools.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...where })
}
