import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LiveState } from '../../src/page/live-state.ts'
import { type StartedPage, startPage } from '../../src/page/start-page.ts'
import { launchBrowser, mayBrowse, openTab } from './browser.ts'
import { playIdentity } from './fake-identity.ts'

const require = createRequire(import.meta.url)
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
/** What we read of axe's answer. */
interface Findings {
  readonly violations: readonly {
    readonly id: string
    readonly impact: string
    readonly nodes: readonly {
      readonly html: string
      readonly any: readonly { message: string }[]
    }[]
  }[]
}

const PHONE = { viewport: { width: 360, height: 740 } }

describe.skipIf(!mayBrowse)(
  'the page for everybody (needs Chromium: apt-get install chromium)',
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
      page = await startPage({ state, port: 0 })
    })
    afterEach(async () => {
      await tab.context().close()
      await page.close()
      expect(problems).toEqual([])
    })

    const show = async (options?: Parameters<typeof openTab>[2], url = page.url): Promise<void> => {
      ;({ tab, problems } = await openTab(browser, url, options))
    }

    /** One of each kind of trouble, with words that do not break. */
    function playTrouble(): void {
      const acquiredAt = Date.now() - 30_000
      const message = `plugin said ${'x'.repeat(300)}`
      const lastError = { code: 'ERR_PLUGIN_EXITED', message, hint: 'Mend it.' }
      const nextTryAt = Date.now() + 60_000
      const good = playIdentity(state, 'good', { acquiredAt, expiresAt: Date.now() + 30_000 })
      playIdentity(state, 'failed', { state: 'failed', lastError, nextTryAt })
      playIdentity(state, 'refused', { state: 'refused', acquiredAt, title: 'y'.repeat(200) })
      playIdentity(state, 'warned', { acquiredAt, lastError, expiresAt: Date.now() + 600_000 })
      playIdentity(state, 'empty', { state: 'empty' })
      const asks = playIdentity(state, 'asks', { state: 'running' })
      good.tell({ type: 'refused', status: 401 })
      good.tell({ type: 'signed', scheme: 'ed25519', tookMs: 3 })
      good.tell({ type: 'run-started', reason: 'first', ahead: false })
      good.tell({ type: 'warning', message: 'z'.repeat(300) })
      asks.tell({ type: 'user-prompt', text: 'Touch the key' })
      for (const status of [200, 500]) {
        const took = { at: Date.now(), method: 'GET', path: '/', tookMs: 3, isUpgrade: false }
        state.recordRequest({ ...took, status })
      }
    }

    const seriousFindings = async (): Promise<string[]> => {
      await tab.evaluate(AXE)
      const results = await tab.evaluate<Findings>('axe.run()')
      return results.violations
        .filter(({ impact }) => impact !== 'minor')
        .flatMap(({ id, nodes }) =>
          nodes.map(({ html, any }) => `${id}: ${html} ${any[0]?.message}`),
        )
    }

    const findingsInBothThemes = async (): Promise<string[]> => {
      await tab.emulateMedia({ colorScheme: 'light' })
      const light = await seriousFindings()
      await tab.emulateMedia({ colorScheme: 'dark' })
      return [...light, ...(await seriousFindings())]
    }

    it('has nothing that axe calls moderate or worse, in light and dark', async () => {
      playTrouble()
      await show()
      await tab.locator('.card').nth(5).waitFor()
      expect(await findingsInBothThemes()).toEqual([])
    })

    it('nor has it when there is nothing to show', async () => {
      await show()
      await tab.getByText('No identity yet').waitFor()
      expect(await findingsInBothThemes()).toEqual([])
      await tab.reload()
      await tab.getByRole('heading', { name: 'Open the address' }).waitFor()
      expect(await findingsInBothThemes()).toEqual([])
    })

    it('fits a phone without scrolling sideways', async () => {
      playTrouble()
      await show(PHONE)
      await tab.locator('.card').nth(5).waitFor()
      expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(360)
      const cut = `[...document.querySelectorAll('.card, .card *, .moment')]
        .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0)
        .map((each) => each.className)`
      expect(await tab.evaluate(cut)).toEqual([])
      const heights = await tab
        .locator('.card button')
        .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().height))
      expect(Math.min(...heights)).toBeGreaterThanOrEqual(24)
      expect(await seriousFindings()).toEqual([])
    })

    it('can be used with the keyboard alone, and the focus stays where it is', async () => {
      const { calls, tell } = playIdentity(state, 'jane')
      await show()
      await tab.locator('.card').waitFor()
      const focused = () => tab.evaluate('document.activeElement.textContent.trim()')
      await tab.keyboard.press('Tab')
      expect(await focused()).toBe('Skip to the identities')
      expect(
        await tab.locator('.skip').evaluate((link) => link.getBoundingClientRect().top),
      ).toBeGreaterThan(0)
      await tab.keyboard.press('Enter')
      expect(await focused()).toBe('Identities')
      await tab.keyboard.press('Tab')
      expect(await focused()).toBe('Refresh now')
      const outline = () => tab.evaluate('getComputedStyle(document.activeElement).outlineStyle')
      expect(await outline()).toBe('solid')
      await tab.keyboard.press('Enter')
      await tab.getByText(/^Refreshed in/).waitFor()
      expect(calls).toEqual(['renew'])
      // A snapshot that comes meanwhile, with another identity in front, does not take it away.
      playIdentity(state, 'a-newcomer')
      tell({ type: 'refused', status: 401 })
      await tab.locator('.card').nth(1).waitFor()
      expect(await focused()).toBe('Refresh now')
      await tab.keyboard.press('Tab')
      await tab.keyboard.press('Space')
      await tab.getByText('Forgotten', { exact: true }).waitFor()
      expect(calls).toEqual(['renew', 'forget'])
    })

    it('tells those who listen what matters, and not every snapshot', async () => {
      const { tell } = playIdentity(state, 'jane')
      await show()
      await tab.locator('.card').waitFor()
      for (let at = 0; at < 5; at += 1) tell({ type: 'refused', status: 401 })
      await tab.locator('.moment').nth(4).waitFor()
      expect(await tab.locator('#announce').textContent()).toBe('')
      tell({ type: 'user-prompt', text: 'Touch the key' })
      await expect.poll(() => tab.locator('#announce').textContent()).toBe('jane waits for you')
      expect(await tab.locator('[aria-live], [role=status], [role=alert]').count()).toBe(2)
    })

    it('stands still for those who want it', async () => {
      playTrouble()
      await show({ reducedMotion: 'reduce' })
      await tab.locator('.card').nth(5).waitFor()
      expect(await tab.evaluate('document.getAnimations().length')).toBe(0)
    })

    it('narrows the list of what happened', async () => {
      playTrouble()
      await show()
      await tab.locator('.moment').nth(4).waitFor()
      await tab.locator('.kind', { hasText: 'refused' }).click()
      expect(await tab.locator('.moment').count()).toBe(1)
      await tab.locator('.kind', { hasText: 'signed' }).click()
      expect(await tab.locator('.moment').count()).toBe(2)
    })

    it('stays usable with 500 identities', async () => {
      for (let at = 0; at < 499; at += 1)
        playIdentity(state, `robot-${at}`, { acquiredAt: Date.now() })
      const last = playIdentity(state, 'the-last', { state: 'failed' })
      await show()
      const cards = tab.locator('.card')
      await cards.nth(47).waitFor()
      expect(await cards.count()).toBe(48)
      await tab.getByRole('button', { name: 'Show 48 more of 452' }).click()
      expect(await cards.count()).toBe(96)
      expect(await tab.evaluate(`document.activeElement.getAttribute('aria-label')`)).toBe(
        'Refresh now: robot-48',
      )
      await tab.getByRole('searchbox').fill('robot-33')
      expect(await tab.locator('#count').textContent()).toBe('11 of 500')
      await tab.getByRole('searchbox').fill('nobody')
      await tab.getByText('No identity matches.').waitFor()
      await tab.getByRole('searchbox').fill('')
      await tab.getByRole('button', { name: 'Need attention: 1' }).click()
      await tab.getByRole('heading', { name: 'the-last', exact: true }).waitFor()
      expect(await cards.count()).toBe(1)
      last.tell({ type: 'user-prompt', text: 'Touch the key' })
      await cards.locator('.prompt', { hasText: 'Touch the key' }).waitFor()
    })
  },
)
