import { StatusError } from '../server/status.ts'
import type { Channels } from './channels.ts'

/** The subprotocols of `portforward`. */
export const FORWARD_PROTOCOLS = ['v4.channel.k8s.io']

const MAX_PORT = 65_535

/**
 * Parses the ports of a port-forward request.
 *
 * @throws {StatusError} 400 if there is no port or one is invalid.
 */
export function readPorts(query: URLSearchParams): readonly number[] {
  const texts = query.getAll('ports').flatMap((value) => value.split(','))
  if (texts.length === 0) throw new StatusError('BadRequest', 'query parameter "ports" is required')
  return texts.map((text) => {
    const port = Number(text)
    if (/^\d+$/.test(text) && port >= 1 && port <= MAX_PORT) return port
    throw new StatusError('BadRequest', `unable to parse "${text}" as a port`)
  })
}

/**
 * Echoes the data of each port.
 *
 * Every port has a data channel and an error channel. Each begins with the port number as two bytes, little-endian, as
 * with the kubelet.
 */
export function forwardPorts(ports: readonly number[], channels: Channels): void {
  for (const [index, port] of ports.entries()) {
    const prefix = Buffer.alloc(2)
    prefix.writeUInt16LE(port)
    channels.send(2 * index, prefix)
    channels.send(2 * index + 1, prefix)
  }
  channels.receive(0, {
    onData: (channel, data) => {
      const isData = channel % 2 === 0 && channel < 2 * ports.length
      if (isData) channels.send(channel, data)
    },
    onEnd: () => {},
  })
}
