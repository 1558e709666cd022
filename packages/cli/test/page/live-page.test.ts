import { type Sandbox, startSandbox } from '@kubecred/sandbox'
import { type Cluster, connect } from 'kubecred'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LiveState } from '../../src/page/live-state.ts'
import { type StartedPage, startPage } from '../../src/page/start-page.ts'
import { hasBrowser, launchBrowser, openTab } from './browser.ts'

describe.skipIf(!hasBrowser)(
  'the page of a real connection (needs Chromium: apt-get install chromium)',
  () => {
    let browser: Browser
    let sandbox: Sandbox
    let cluster: Cluster
    let state: LiveState
    let page: StartedPage
    let tab: Page
    let problems: string[]

    beforeAll(async () => {
      browser = await launchBrowser()
    })
    afterAll(() => browser?.close())

    beforeEach(async () => {
      sandbox = await startSandbox()
      state = new LiveState({ title: 'a test', now: Date.now })
      page = await startPage({ state, port: 0 })
    })
    afterEach(async () => {
      await tab.context().close()
      await cluster.close()
      await page.close()
      await sandbox.close()
    })

    async function show(plugin: Partial<Parameters<Sandbox['plugin']>[0]> = {}): Promise<void> {
      const exec = await sandbox.plugin({ user: 'jane', lifetimeMs: 60_000, ...plugin })
      const kubeconfig = sandbox.writeKubeconfig({ user: { exec } })
      const { observer, attach } = state.identity('jane', 'jane@sandbox')
      cluster = await connect({ kubeconfig, observer })
      attach(cluster)
      ;({ tab, problems } = await openTab(browser, page.url))
      await tab.locator('.card').waitFor()
    }

    async function request(): Promise<number> {
      const began = Date.now()
      const { status } = await cluster.fetch('/api/v1/namespaces')
      state.recordRequest({
        at: began,
        method: 'GET',
        path: '/api/v1/namespaces',
        status,
        tookMs: Date.now() - began,
        isUpgrade: false,
      })
      return status
    }

    const chip = (text: string) => tab.locator('.chip', { hasText: text }).first().waitFor()
    const fact = (name: string) =>
      tab
        .locator('.facts div', { has: tab.locator('dt', { hasText: name }) })
        .locator('dd')
        .textContent()

    it('shows events as they occur', async () => {
      await show()
      await chip('not needed yet')
      await tab.getByText('No requests yet').first().waitFor()
      expect(await tab.locator('h1:visible').textContent()).toContain('identity in use')

      expect(await request()).toBe(200)
      await chip('ready')
      await tab.getByRole('img', { name: /\d+ seconds left/ }).waitFor()
      expect(await fact('Runs')).toBe('1')
      await tab.locator('.event', { hasText: 'acquired' }).waitFor()
      await tab.getByText('1 request, none failed').waitFor()

      sandbox.revoke('jane')
      expect(await request()).toBe(200)
      await tab.locator('.event', { hasText: 'the server refused the credential (401)' }).waitFor()
      await tab.locator('.event', { hasText: 'refreshed' }).waitFor()
      await tab.getByText('1 request retried after a refusal').waitFor()
      expect([await fact('Runs'), await fact('Refused'), await fact('Retried')]).toEqual([
        '2',
        '1',
        '1',
      ])
      expect(await tab.title()).toBe('Ready – kubecred')
      expect(problems).toEqual([])
    })

    it('animates the ring between two snapshots', async () => {
      await show({ lifetimeMs: 20_000 })
      await request()
      await chip('ready')
      const offsets = await tab.evaluate<string[]>(`(async () => {
        const arc = document.querySelector('.ring-arc')
        const seen = []
        for (let frame = 0; frame < 8; frame += 1) {
          await new Promise((resolve) => requestAnimationFrame(resolve))
          seen.push(getComputedStyle(arc).strokeDashoffset)
        }
        return seen
      })()`)
      expect(new Set(offsets).size).toBeGreaterThan(4)
    })

    it('refreshes and forgets the credential on demand', async () => {
      await show()
      await request()
      await chip('ready')
      await tab.getByRole('button', { name: 'Refresh now' }).click()
      await tab.getByText(/^Refreshed in/).waitFor()
      expect(sandbox.pluginRuns).toBe(2)

      await tab.getByRole('button', { name: 'Forget' }).click()
      await tab.getByText('Forgotten', { exact: true }).waitFor()
      await chip('not needed yet')
      expect(cluster.status().credential.state).toBe('empty')
      await request()
      expect(sandbox.pluginRuns).toBe(3)
      await chip('ready')
      expect(problems).toEqual([])
    })

    it('shows the login that a plugin asks for', async () => {
      await show({ exitCode: 3, stderr: 'Expired. Run: corp login --sso' })
      await tab.getByRole('button', { name: 'Refresh now' }).click()
      await chip('needs a login')
      await tab.getByText('Needs a login: run corp login --sso', { exact: true }).waitFor()
      expect(problems).toEqual([])
    })

    it('shows what went wrong and what to do', async () => {
      await show({ exitCode: 3, stderr: 'no <b>session</b> today' })
      await tab.getByRole('button', { name: 'Refresh now' }).click()
      await chip('failed')
      const problem = await tab.locator('.problem').textContent()
      expect(problem).toMatch(/exit|status/)
      expect(problem).toContain('ERR_PLUGIN_EXITED')
      expect(problem).toMatch(/Next try in \d+ s/)
      expect(await tab.locator('h1:visible').textContent()).toBe('jane@sandbox needs attention')
      expect(await tab.title()).toBe('⚠ jane@sandbox needs attention – kubecred')
      await tab.locator('.feedback[data-mood=bad]').waitFor()
      await tab.locator('.event', { hasText: 'failed' }).first().waitFor()
      // The failure of a plugin is not an error of the page.
      expect(problems).toEqual([])
    })
  },
)
