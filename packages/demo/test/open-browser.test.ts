import { describe, expect, it } from 'vitest'
import { openBrowser, whyNotOpen } from '../src/open-browser.ts'

const screen = { DISPLAY: ':0' }

describe('a browser', () => {
  it.each([
    { name: 'X11', env: screen, platform: 'linux', why: undefined },
    { name: 'Wayland', env: { WAYLAND_DISPLAY: 'wayland-0' }, platform: 'linux', why: undefined },
    { name: 'macOS', env: {}, platform: 'darwin', why: undefined },
    { name: 'Windows', env: {}, platform: 'win32', why: undefined },
    { name: 'no screen', env: {}, platform: 'linux', why: 'there is no screen' },
    {
      name: 'ssh, even with a screen',
      env: { ...screen, SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' },
      platform: 'linux',
      why: 'this is a session over ssh',
    },
    { name: 'CI', env: { ...screen, CI: 'true' }, platform: 'linux', why: 'this is CI' },
  ] as const)('with $name', ({ env, platform, why }) => {
    expect(whyNotOpen({ env, platform, isTerminal: true })).toBe(why)
  })

  it('is not opened by a pipe', () => {
    const why = whyNotOpen({ env: screen, platform: 'linux', isTerminal: false })
    expect(why).toBe('standard output is no terminal')
  })

  it('that cannot be started is no failure', async () => {
    const how = { env: { PATH: '/nonexistent' }, platform: 'linux' } as const
    expect(await openBrowser('http://127.0.0.1:1/', how)).toBe('there is no xdg-open')
  })
})
