import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LiveState } from '../../src/page/live-state.ts'
import { type StartedPage, startPage } from '../../src/page/start-page.ts'
import { hasBrowser, launchBrowser, openTab } from './browser.ts'
import { addFakeIdentity } from './fake-identity.ts'

const require = createRequire(import.meta.url)
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')
/** The part of axe's results that is used. */
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

describe.skipIf(!hasBrowser)(
  'the use of the page (needs Chromium: apt-get install chromium)',
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

    /** Adds one identity for each kind of trouble, with long words. */
    function addTroubledIdentities(): void {
      const acquiredAt = Date.now() - 30_000
      const message = `plugin said ${'x'.repeat(300)}`
      const lastError = { code: 'ERR_PLUGIN_EXITED', message, hint: 'Mend it.' }
      const loginCommand = `corp login --token=${'w'.repeat(180)}`
      const nextTryAt = Date.now() + 60_000
      const good = addFakeIdentity(state, 'good', { acquiredAt, expiresAt: Date.now() + 30_000 })
      addFakeIdentity(state, 'failed', { state: 'failed', lastError, nextTryAt })
      const needsLogin = { ...lastError, loginCommand }
      addFakeIdentity(state, 'login', { state: 'failed', lastError: needsLogin })
      addFakeIdentity(state, 'refused', { state: 'refused', acquiredAt, title: 'y'.repeat(200) })
      addFakeIdentity(state, 'warned', { acquiredAt, lastError, expiresAt: Date.now() + 600_000 })
      addFakeIdentity(state, 'empty', { state: 'empty' })
      const asks = addFakeIdentity(state, 'asks', { state: 'running' })
      good.emit({ type: 'refused', status: 401 })
      good.emit({ type: 'signed', scheme: 'ed25519', tookMs: 3 })
      good.emit({ type: 'run-started', reason: 'first', ahead: false })
      good.emit({ type: 'warning', message: 'z'.repeat(300) })
      asks.emit({ type: 'user-prompt', text: 'Touch the key' })
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

    it('has no moderate or worse findings of axe, in light and dark', async () => {
      addTroubledIdentities()
      await show()
      await tab.locator('.card').nth(5).waitFor()
      expect(await findingsInBothThemes()).toEqual([])
    })

    it('has no such findings when it is empty', async () => {
      await show()
      await tab.getByText('No identity yet').waitFor()
      expect(await findingsInBothThemes()).toEqual([])
      await tab.reload()
      await tab.getByRole('heading', { name: 'Open the printed address' }).waitFor()
      expect(await findingsInBothThemes()).toEqual([])
    })

    it('fits a phone without scrolling sideways', async () => {
      addTroubledIdentities()
      await show(PHONE)
      await tab.locator('.card').nth(5).waitFor()
      expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(360)
      const cut = `[...document.querySelectorAll('.card, .card *, .event')]
        .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0)
        .map((each) => each.className)`
      expect(await tab.evaluate(cut)).toEqual([])
      const heights = await tab
        .locator('.card button')
        .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().height))
      expect(Math.min(...heights)).toBeGreaterThanOrEqual(24)
      expect(await seriousFindings()).toEqual([])
    })

    it('is possible with the keyboard alone, and the focus is kept', async () => {
      const { calls, emit } = addFakeIdentity(state, 'jane')
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
      // A new snapshot with another identity does not move the focus.
      addFakeIdentity(state, 'a-newcomer')
      emit({ type: 'refused', status: 401 })
      await tab.locator('.card').nth(1).waitFor()
      expect(await focused()).toBe('Refresh now')
      await tab.keyboard.press('Tab')
      await tab.keyboard.press('Space')
      await tab.getByText('Forgotten', { exact: true }).waitFor()
      expect(calls).toEqual(['renew', 'forget'])
    })

    it('announces what matters to screen readers, and not every snapshot', async () => {
      const { emit } = addFakeIdentity(state, 'jane')
      await show()
      await tab.locator('.card').waitFor()
      for (let at = 0; at < 5; at += 1) emit({ type: 'refused', status: 401 })
      await tab.locator('.event', { hasText: '× 5' }).waitFor()
      expect(await tab.locator('#announce').textContent()).toBe('')
      emit({ type: 'user-prompt', text: 'Touch the key' })
      await expect
        .poll(() => tab.locator('#announce').textContent())
        .toBe('jane is waiting for you')
      expect(await tab.locator('[aria-live], [role=status], [role=alert]').count()).toBe(2)
    })

    it('involves no animation with reduced motion', async () => {
      addTroubledIdentities()
      await show({ reducedMotion: 'reduce' })
      await tab.locator('.card').nth(5).waitFor()
      expect(await tab.evaluate('document.getAnimations().length')).toBe(0)
    })

    it.each([
      { width: 1280, identities: 3 },
      { width: 1280, identities: 4 },
      { width: 800, identities: 3 },
      { width: 800, identities: 1 },
    ])('leaves no empty place beside $identities cards at $width pixels', async (example) => {
      for (let at = 0; at < example.identities; at += 1) addFakeIdentity(state, `robot-${at}`)
      await show({ viewport: { width: example.width, height: 900 } })
      await tab
        .locator('.card')
        .nth(example.identities - 1)
        .waitFor()
      // For each row of cards, the distance of its last card from the right edge of the list.
      const gaps = await tab.evaluate<number[]>(`(() => {
        const { right } = document.getElementById('cards').getBoundingClientRect()
        const rows = new Map()
        for (const card of document.querySelectorAll('.card')) {
          const box = card.getBoundingClientRect()
          rows.set(box.top, Math.round(right - box.right))
        }
        return [...rows.values()]
      })()`)
      expect(gaps).toEqual(Array.from({ length: Math.ceil(example.identities / 2) }, () => 0))
    })

    it('folds an event that repeats into one row with its count and last time', async () => {
      let now = Date.UTC(2030, 0, 1, 12)
      state = new LiveState({ title: 'a test', now: () => now })
      await page.close()
      page = await startPage({ state, port: 0 })
      const jane = addFakeIdentity(state, 'jane')
      const sam = addFakeIdentity(state, 'sam')
      for (const tookMs of [120, 95, 1500]) {
        now += 1000
        jane.emit({ type: 'refused', status: 401 })
        jane.emit({ type: 'signed', scheme: 'ed25519', tookMs })
      }
      sam.emit({ type: 'refused', status: 401 })
      jane.emit({ type: 'warning', message: 'one thing' })
      jane.emit({ type: 'warning', message: 'another thing' })
      await show()
      await tab.locator('.event').nth(4).waitFor()
      const heads = await tab.locator('.event-head > span').allInnerTexts()
      expect(heads).toEqual([
        'jane warnings',
        'jane warnings',
        'sam refused',
        'jane signed × 3',
        'jane refused × 3',
      ])
      const signed = tab.locator('.event', { hasText: '× 3' }).first()
      expect(await signed.locator('time').getAttribute('datetime')).toBe('2030-01-01T12:00:03.000Z')
      expect(await signed.locator('.event-text').textContent()).toContain('1.5')
      jane.emit({ type: 'refused', status: 401 })
      await tab.locator('.event', { hasText: 'refused × 4' }).waitFor()
      expect(await tab.locator('.event').count()).toBe(5)
      expect(await tab.locator('.event').first().textContent()).toContain('× 4')
    })

    it('includes filtering the list of events', async () => {
      addTroubledIdentities()
      await show()
      await tab.locator('.event').nth(4).waitFor()
      await tab.locator('.kind', { hasText: 'refused' }).click()
      expect(await tab.locator('.event').count()).toBe(1)
      await tab.locator('.kind', { hasText: 'signed' }).click()
      expect(await tab.locator('.event').count()).toBe(2)
    })

    it('stays fast with 500 identities', async () => {
      for (let at = 0; at < 499; at += 1)
        addFakeIdentity(state, `robot-${at}`, { acquiredAt: Date.now() })
      const last = addFakeIdentity(state, 'the-last', { state: 'failed' })
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
      await tab.getByRole('searchbox').fill('no such name')
      await tab.getByText('No identity matches.').waitFor()
      await tab.getByRole('searchbox').fill('')
      await tab.getByRole('button', { name: 'Need attention: 1' }).click()
      await tab.getByRole('heading', { name: 'the-last', exact: true }).waitFor()
      expect(await cards.count()).toBe(1)
      last.emit({ type: 'user-prompt', text: 'Touch the key' })
      await cards.locator('.prompt', { hasText: 'Touch the key' }).waitFor()
    })
  },
)
