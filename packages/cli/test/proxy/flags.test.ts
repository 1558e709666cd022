import { describe, expect, it } from 'vitest'
import { runFake } from '../run-fake.ts'

describe('kubecred proxy explains what is wrong with', () => {
  it.each([
    [['--port', '70000'], '--port takes a number from 0 to 65535'],
    [['--port', 'http'], '--port takes a number'],
    [['--page-port=-1'], '--page-port takes a number'],
    [['--accept-paths', '^/api,('], '--accept-paths takes regular expressions'],
    [['--reject-paths', '[z-a]'], '--reject-paths takes regular expressions'],
    [['--reject-methods', 'POST,'], '--reject-methods takes regular expressions'],
    [['--accept-hosts', '.*'], '--accept-hosts takes names'],
    [['--accept-hosts', '^.+\\.example$'], '--accept-hosts takes names'],
    [['--api-prefix', 'k'], '--api-prefix takes a path'],
    [['--api-prefix', '/a/../b/'], '--api-prefix takes a path'],
    [['--address', 'example.com'], '--address takes an IP address'],
    [['--address', '0.0.0.0'], 'add --allow-remote'],
    [['--address', '::'], 'add --allow-remote'],
    [['--address', '10.1.2.3'], 'add --allow-remote'],
    [['--shutdown-grace', 'soon'], '--shutdown-grace takes seconds'],
    [['--unix-socket', '/x', '--port', '1'], '--unix-socket and --port cannot be combined'],
    [['--unix-socket', '/x', '--address', '::1'], '--unix-socket and --address'],
    [['--no-page', '--metrics'], '--metrics with --no-page needs --health-port'],
    [['--log-format', 'xml'], '--log-format takes text or json'],
    [['--shutdown-delay', 'soon'], '--shutdown-delay takes seconds'],
    [['--accept-callers', 'a/b'], '--accept-callers needs --authenticate-callers'],
    [['--impersonate-callers'], '--impersonate-callers needs --authenticate-callers'],
    [['--caller-audiences', 'a'], '--caller-audiences needs --authenticate-callers'],
    [['--authenticate-callers'], 'needs --impersonate-callers, or --accept-callers'],
    [
      ['--authenticate-callers', '--impersonate-callers', '--secret-file', '/a'],
      '--authenticate-callers and --secret-file cannot be combined',
    ],
    [['--authenticate-callers', '--accept-callers', 'web'], '--accept-callers takes service acc'],
    [['--authenticate-callers', '--accept-callers', '*/web'], '--accept-callers takes service acc'],
    [['--authenticate-callers', '--accept-callers', 'shop/web,'], '--accept-callers takes serv'],
    [['--no-page', '--page-port', '1'], '--no-page and --page-port cannot'],
    [['--health-port', 'x'], '--health-port takes a number'],
    [['--tls-cert-file', '/a'], '--tls-cert-file and --tls-key-file must be used together'],
    [['-o', 'yaml'], 'flag -o takes json'],
    [['more'], 'unexpected argument "more"'],
  ])('%j', async (flags, text) => {
    const { status, out, err } = await runFake(['proxy', ...flags])
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(err).toContain(text)
    expect(err).toContain("Try 'kubecred proxy --help'")
  })
})
