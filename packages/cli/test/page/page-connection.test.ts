import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LiveState } from '../../src/page/live-state.ts'
import { type StartedPage, startPage } from '../../src/page/start-page.ts'
import { hasBrowser, launchBrowser, openTab } from './browser.ts'
import { addFakeIdentity } from './fake-identity.ts'

const SECRET = 'a-secret-for-tests-0123456789'

describe.skipIf(!hasBrowser)(
  'the page and its program (needs Chromium: apt-get install chromium)',
  () => {
    let browser: Browser
    let state: LiveState
    let page: StartedPage
    let tab: Page
    let problems: string[]

    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())

    beforeEach(async () => {
      state = new LiveState({ title: 'a test', now: Date.now })
      addFakeIdentity(state, 'jane')
      page = await startPage({ state, port: 0, secret: SECRET })
    })
    afterEach(async () => {
      await tab.context().close()
      await page.close()
    })

    const show = async (url = page.url): Promise<void> => {
      ;({ tab, problems } = await openTab(browser, url))
    }
    const heading = () => tab.locator('h1:visible').textContent()
    const startAgain = async (secret: string): Promise<void> => {
      const port = Number(new URL(page.origin).port)
      await page.close()
      await tab.getByText('The program does not respond').waitFor()
      state = new LiveState({ title: 'started again', now: Date.now })
      addFakeIdentity(state, 'jane').emit({ type: 'warning', message: 'a new life' })
      page = await startPage({ state, port, secret })
    }

    it('remove the secret from the address, and do not store it', async () => {
      await show()
      await tab.locator('.card').waitFor()
      expect(tab.url()).toBe(`${page.origin}/`)
      expect(await tab.context().cookies()).toEqual([])
      const kept = await tab.evaluate<{ text: string }>(`(async () => ({
        stored: localStorage.length + sessionStorage.length,
        cookie: document.cookie,
        databases: (await indexedDB.databases()).length,
        state: history.state,
        text: document.documentElement.outerHTML,
      }))()`)
      expect(kept).toMatchObject({ stored: 0, cookie: '', databases: 0, state: null })
      expect(kept.text).not.toContain(SECRET)
      expect(problems).toEqual([])
    })

    it('ask for the printed address after a reload, and continue when it is pasted', async () => {
      await show()
      await tab.locator('.card').waitFor()
      await tab.reload()
      await tab.getByRole('heading', { name: 'Open the printed address' }).waitFor()
      expect(problems).toEqual([])
      await tab.evaluate(`location.hash = '${SECRET}'`)
      await tab.locator('.card').waitFor()
      expect(tab.url()).toBe(`${page.origin}/`)
    })

    it.each([
      { name: 'something short', hash: '#short' },
      { name: 'HTML', hash: '#%3Cscript%3E' },
      { name: 'something huge', hash: `#${'x'.repeat(500)}` },
    ])('do not accept $name as a secret', async ({ hash }) => {
      await show(`${page.origin}/${hash}`)
      expect(await heading()).toBe('Open the printed address')
      expect(tab.url()).toBe(`${page.origin}/`)
    })

    it('reconnect when the program restarts with the same port and secret', async () => {
      const { emit } = addFakeIdentity(state, 'sam')
      for (let at = 0; at < 3; at += 1) emit({ type: 'refused', status: 401 })
      await show()
      await tab.locator('.event', { hasText: '× 3' }).waitFor()
      await startAgain(SECRET)
      await tab.getByText('started again').waitFor()
      await tab.locator('#banner').waitFor({ state: 'hidden' })
      // The numbers of events start from zero again; the new events must not be mistaken for old ones.
      expect(await tab.locator('.event-text').allTextContents()).toEqual(['a new life'])
      expect(problems.filter((problem) => !problem.includes('net::ERR_'))).toEqual([])
    })

    it('explain what to do when the program restarts with another secret', async () => {
      await show()
      await tab.locator('.card').waitFor()
      await startAgain('another-secret-0123456789')
      await tab.getByRole('heading', { name: 'Open the new address' }).waitFor()
      expect(await tab.locator('.card:visible').count()).toBe(0)
      await tab.goto(page.url)
      await tab.locator('.card').waitFor()
    })

    it('run no foreign scripts or styles', async () => {
      addFakeIdentity(state, '<img src=x onerror="globalThis.hacked = 1">').emit({
        type: 'warning',
        message: '<script>globalThis.hacked = 1</script><style>*{display:none}</style>',
      })
      await show()
      await tab.locator('.card').nth(1).waitFor()
      expect(problems).toEqual([])
      await tab.evaluate(`{
        const script = document.createElement('script')
        script.textContent = 'globalThis.hacked = 1'
        document.body.append(script)
        document.body.setAttribute('style', 'display: none')
        document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="globalThis.hacked = 1">')
      }`)
      await expect
        .poll(() => problems.filter((text) => /Content Security Policy/.test(text)).length)
        .toBeGreaterThan(2)
      expect(await tab.evaluate(() => 'hacked' in globalThis)).toBe(false)
      expect(await tab.locator('.card').first().isVisible()).toBe(true)
    })

    it('cannot be framed, read or controlled by another page', async () => {
      const stranger = createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/html')
        response.end(`<iframe src="${page.url}"></iframe>`)
      }).listen(0, '127.0.0.1')
      await new Promise((resolve) => stranger.once('listening', resolve))
      try {
        await show(`http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`)
        await tab.waitForLoadState('load')
        const frame = tab.frames()[1]
        expect(await frame?.locator('.card').count()).toBe(0)
        expect(await frame?.locator('#live').count()).toBe(0)
        const attempts = await tab.evaluate(
          async ([origin, secret]) => {
            const headers = { Authorization: `Bearer ${secret}` }
            const tries = [
              fetch(`${origin}/state`, { headers }),
              fetch(`${origin}/`),
              fetch(`${origin}/identities/jane/forget`, { method: 'POST', headers }),
              fetch(`${origin}/page.js`, { mode: 'no-cors' }),
            ]
            return (await Promise.allSettled(tries)).map(({ status }) => status)
          },
          [page.origin, SECRET] as const,
        )
        expect(attempts).toEqual(['rejected', 'rejected', 'rejected', 'rejected'])
        expect(state.snapshot().timeline).toEqual([])
      } finally {
        stranger.closeAllConnections()
        stranger.close()
      }
    })
  },
)
