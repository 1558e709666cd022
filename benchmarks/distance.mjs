// Makes a server far away. With root, iproute2 and the kernel's netem the server runs in a network namespace of its own,
// behind a link that delays packets; otherwise a relay of our own delays what it passes on.
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'

/**
 * @param {number} roundTripMs
 * @returns `host` and `execPath` for a server that runs there, or `reach`, which returns another address for its own.
 */
export async function openDistance(roundTripMs) {
  return openNamespace(roundTripMs) ?? openRelay(roundTripMs)
}

function openNamespace(roundTripMs) {
  const name = `kubecred-${process.pid}`
  const [here, there] = [`kch${process.pid}`, `kct${process.pid}`]
  const near = '198.18.77.1'
  const host = '198.18.77.2'
  const delay = ['netem', 'delay', `${roundTripMs / 2}ms`]
  const commands = [
    ['ip', 'netns', 'add', name],
    ['ip', 'link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name],
    ['ip', 'address', 'add', `${near}/30`, 'dev', here],
    ['ip', 'link', 'set', here, 'up'],
    ['ip', '-n', name, 'address', 'add', `${host}/30`, 'dev', there],
    ['ip', '-n', name, 'link', 'set', there, 'up'],
    ['tc', 'qdisc', 'add', 'dev', here, 'root', ...delay],
    ['ip', 'netns', 'exec', name, 'tc', 'qdisc', 'add', 'dev', there, 'root', ...delay],
  ]
  // Removes the link too.
  const close = () => quietly(['ip', 'netns', 'delete', name])
  if (!commands.every(quietly)) {
    close()
    return undefined
  }
  return {
    way: 'network namespaces',
    host,
    execPath: 'ip',
    execArgv: ['netns', 'exec', name, process.execPath],
    close,
  }
}

function openRelay(roundTripMs) {
  let relay
  return {
    way: 'a delaying relay',
    async reach(url) {
      const { port } = new URL(url)
      relay = fork(new URL('relay.mjs', import.meta.url), [port, String(roundTripMs)], {
        execArgv: [],
      })
      const [message] = await once(relay, 'message')
      return `https://127.0.0.1:${message.port}`
    },
    close: () => relay?.disconnect(),
  }
}

function quietly([command, ...args]) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}
