import { describe, expect, it } from 'vitest'
import { openBrowser, whyNotOpen } from '../src/open-browser.ts'

const display = { DISPLAY: ':0' }

describe('a browser', () => {
  it.each([
    { name: 'X11', env: display, platform: 'linux', why: undefined },
    { name: 'Wayland', env: { WAYLAND_DISPLAY: 'wayland-0' }, platform: 'linux', why: undefined },
    { name: 'macOS', env: {}, platform: 'darwin', why: undefined },
    { name: 'Windows', env: {}, platform: 'win32', why: undefined },
    { name: 'no display', env: {}, platform: 'linux', why: 'there is no display' },
    {
      name: 'ssh, even with a display',
      env: { ...display, SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' },
      platform: 'linux',
      why: 'this is an SSH session',
    },
    { name: 'CI', env: { ...display, CI: 'true' }, platform: 'linux', why: 'this is CI' },
  ] as const)('is opened or not: $name', ({ env, platform, why }) => {
    expect(whyNotOpen({ env, platform, isTerminal: true })).toBe(why)
  })

  it('is not opened if standard output is a pipe', () => {
    const why = whyNotOpen({ env: display, platform: 'linux', isTerminal: false })
    expect(why).toBe('standard output is not a terminal')
  })

  it('may be missing, which is not an error', async () => {
    const how = { env: { PATH: '/nonexistent' }, platform: 'linux' } as const
    expect(await openBrowser('http://127.0.0.1:1/', how)).toBe('xdg-open is not installed')
  })
})
