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

/** Without a browser these tests are skipped; tools/system-packages.mjs says so, or installs one. */
export const mayBrowse = spawnSync(COMMAND, ['--version']).status === 0

/** Debian's Chromium, with a profile of its own that goes away with it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: `/usr/bin/${COMMAND}`, args: FLAGS })
}

/** A tab in a fresh profile that remembers what went wrong in it. */
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
