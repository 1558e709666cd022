// Takes the screenshots of the page in docs/images, with Debian's Chromium and the built program.
//   node tools/screenshots.mjs [FOLDER]
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { LiveState } from '../packages/cli/dist/page/live-state.js'
import { startPage } from '../packages/cli/dist/page/start-page.js'
import { makeClock, playScene } from './page-scene.mjs'

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const DESKTOP = { width: 1280, height: 1060 }
const PHONE = { width: 360, height: 780 }
const PICTURES = [
  { name: 'page-light', colorScheme: 'light', viewport: DESKTOP },
  { name: 'page-dark', colorScheme: 'dark', viewport: DESKTOP },
  { name: 'page-trouble', colorScheme: 'light', viewport: DESKTOP, hasTrouble: true },
  { name: 'page-phone-light', colorScheme: 'light', viewport: PHONE, hasTrouble: true },
  { name: 'page-phone-dark', colorScheme: 'dark', viewport: PHONE },
]

const folder = resolve(process.argv[2] ?? fileURLToPath(new URL('../docs/images', import.meta.url)))
mkdirSync(folder, { recursive: true })
const profile = mkdtempSync(join(tmpdir(), 'kubecred-screenshots-'))
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: '/usr/bin/chromium',
  args: FLAGS,
})
try {
  for (const picture of PICTURES) await take(picture)
} finally {
  await browser.close()
  rmSync(profile, { recursive: true, force: true })
}

async function take({ name, colorScheme, viewport, hasTrouble = false }) {
  const clock = makeClock()
  const state = new LiveState({ title: 'proxy on 127.0.0.1:8001', now: clock.now })
  playScene(state, clock, { hasTrouble })
  const page = await startPage({ state, port: 0 })
  const tab = await browser.newPage()
  await tab.setViewportSize(viewport)
  await tab.emulateMedia({ colorScheme })
  await tab.goto(page.url)
  await tab.locator('.card').first().waitFor()
  const path = join(folder, `${name}.png`)
  await tab.screenshot({ path })
  await tab.close()
  await page.close()
  process.stdout.write(`${path}\n`)
}
