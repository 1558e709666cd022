import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LiveState } from '../../src/page/live-state.ts'
import { type StartedPage, startPage } from '../../src/page/start-page.ts'
import { launchBrowser, mayBrowse, openTab } from './browser.ts'
import { playIdentity } from './fake-identity.ts'

const SECRET = 'a-secret-for-tests-0123456789'

describe.skipIf(!mayBrowse)(
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
      playIdentity(state, 'jane')
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
      await tab.getByText('The program does not answer').waitFor()
      state = new LiveState({ title: 'started again', now: Date.now })
      playIdentity(state, 'jane').tell({ type: 'warning', message: 'a new life' })
      page = await startPage({ state, port, secret })
    }

    it('takes the secret out of the address, and keeps it nowhere', async () => {
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

    it('asks for the printed address after a reload, and goes on when it is pasted', async () => {
      await show()
      await tab.locator('.card').waitFor()
      await tab.reload()
      await tab.getByRole('heading', { name: 'Open the address that was printed' }).waitFor()
      expect(problems).toEqual([])
      await tab.evaluate(`location.hash = '${SECRET}'`)
      await tab.locator('.card').waitFor()
      expect(tab.url()).toBe(`${page.origin}/`)
    })

    it.each([
      { name: 'something short', hash: '#short' },
      { name: 'HTML', hash: '#%3Cscript%3E' },
      { name: 'something huge', hash: `#${'x'.repeat(500)}` },
    ])('takes $name for no secret', async ({ hash }) => {
      await show(`${page.origin}/${hash}`)
      expect(await heading()).toBe('Open the address that was printed')
      expect(tab.url()).toBe(`${page.origin}/`)
    })

    it('goes on when the program is back with the same port and secret', async () => {
      const { tell } = playIdentity(state, 'sam')
      for (let at = 0; at < 3; at += 1) tell({ type: 'refused', status: 401 })
      await show()
      await tab.locator('.moment').nth(2).waitFor()
      await startAgain(SECRET)
      await tab.getByText('started again').waitFor()
      await tab.locator('#banner').waitFor({ state: 'hidden' })
      // Another program counts from zero: what it tells is not taken for old news.
      expect(await tab.locator('.moment-text').allTextContents()).toEqual(['a new life'])
      expect(problems.filter((problem) => !problem.includes('net::ERR_'))).toEqual([])
    })

    it('says where to go when the program is back with another secret', async () => {
      await show()
      await tab.locator('.card').waitFor()
      await startAgain('another-secret-0123456789')
      await tab.getByRole('heading', { name: 'Open the new address' }).waitFor()
      expect(await tab.locator('.card:visible').count()).toBe(0)
      await tab.goto(page.url)
      await tab.locator('.card').waitFor()
    })

    it('runs no script and no style that is not its own', async () => {
      playIdentity(state, '<img src=x onerror="globalThis.hacked = 1">').tell({
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

    it('cannot be framed, read or pressed by another page', async () => {
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
