import { spawnSync } from 'node:child_process'
import { type Browser, chromium, type Page } from 'playwright-core'

const COMMAND = 'chromium'
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Whether Chromium is installed. If not, these tests are skipped; tools/system-packages.mjs can install it. */
export const hasBrowser = spawnSync(COMMAND, ['--version']).status === 0

/** Starts Debian's Chromium with a temporary profile. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: `/usr/bin/${COMMAND}`, args: FLAGS })
}

/** A tab in a fresh profile, and the errors and warnings of its console. */
export interface WatchedTab {
  readonly tab: Page
  readonly problems: string[]
}

type ContextOptions = NonNullable<Parameters<Browser['newContext']>[0]>

export async function openTab(
  browser: Browser,
  url: string,
  options: ContextOptions = {},
): Promise<WatchedTab> {
  const context = await browser.newContext(options)
  const tab = await context.newPage()
  const problems: string[] = []
  tab.setDefaultTimeout(10_000)
  tab.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
  })
  tab.on('pageerror', (error) => problems.push(String(error)))
  await tab.goto(url)
  return { tab, problems }
}
