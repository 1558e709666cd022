#!/usr/bin/env node
// The shim that BoringSSL's runner starts for each test (its ssl/test/PORTING.md describes the protocol): a TLS 1.3
// client. With `-plain` it is Node's own, so that a difference is ours. Needs a build.
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import tls from 'node:tls'

const UNIMPLEMENTED = 89
const TLS_1_3 = 0x0304

/** Flags with a value; those of a list can be there several times. */
const WITH_VALUE = [
  'port',
  'shim-id',
  'cert-file',
  'key-file',
  'trust-cert',
  'host-name',
  'max-version',
  'min-version',
  'expect-curve-id',
]
const LISTS = ['signing-prefs', 'curves']
/** Flags without a value. What they expect of BoringSSL's own interface is not checked. */
const SWITCHES = [
  'ipv6',
  'plain',
  'shim-writes-first',
  'shim-shuts-down',
  'async',
  'implicit-handshake',
  'verify-peer',
  'use-old-client-cert-callback',
  'no-tls1',
  'no-tls11',
  'no-tls12',
  'expect-hrr',
  'expect-no-hrr',
]
/** The names that OpenSSL has for the curves. */
const CURVES = { 23: 'P-256', 24: 'P-384', 25: 'P-521', 29: 'X25519' }

// The runner asks this before the tests.
if (process.argv.includes('-is-handshaker-supported')) {
  process.stdout.write('No\n')
  process.exit()
}
const flags = readFlags(process.argv.slice(2))
if (flags === undefined || !isSupported(flags)) process.exit(UNIMPLEMENTED)
const socket = connect(Number(flags.port), flags.ipv6 ? '::1' : '127.0.0.1')
socket.on('connect', () => {
  const id = Buffer.alloc(8)
  id.writeBigUInt64LE(BigInt(flags['shim-id']))
  socket.write(id)
})
try {
  exchange(await (flags.plain ? connectPlain() : connectSigned()))
} catch (error) {
  fail(error)
}

function readFlags(args) {
  const read = {}
  for (let at = 0; at < args.length; at += 1) {
    const name = args[at].slice(1)
    if (WITH_VALUE.includes(name)) read[name] = args[++at]
    else if (LISTS.includes(name)) read[name] = [...(read[name] ?? []), Number(args[++at])]
    else if (SWITCHES.includes(name)) read[name] = true
    else return undefined
  }
  return read
}

function isSupported({ 'min-version': min = TLS_1_3, 'max-version': max = TLS_1_3, ...rest }) {
  const { curves = [], plain = false, 'signing-prefs': preferred } = rest
  if (!curves.every((curve) => curve in CURVES) || (plain && preferred !== undefined)) return false
  return Number(min) <= TLS_1_3 && Number(max) >= TLS_1_3
}

/** Node verifies only a certificate of the runner's own authority, and no name: the tests have many. */
function options() {
  const { 'trust-cert': authority = '' } = flags
  return {
    ...(authority === '' ? { rejectUnauthorized: false } : { ca: readFileSync(authority) }),
    ...(flags['host-name'] !== undefined && { servername: flags['host-name'] }),
    ...(flags.curves !== undefined && {
      ecdhCurve: flags.curves.map((curve) => CURVES[curve]).join(':'),
    }),
    checkServerIdentity: () => undefined,
  }
}

function connectPlain() {
  const { 'cert-file': cert, 'key-file': key } = flags
  const secured = tls.connect({
    ...options(),
    socket,
    minVersion: 'TLSv1.3',
    ...(cert !== undefined && { cert: readFileSync(cert), key: readFileSync(key) }),
  })
  return new Promise((resolve, reject) => {
    secured.once('secureConnect', () => resolve(secured)).once('error', reject)
  })
}

async function connectSigned() {
  const { connectSigned: start } = await import('../../packages/core/dist/tls/connect-signed.js')
  const { readIdentity } = await import('./identity.mjs')
  const identity = readIdentity({
    certFile: flags['cert-file'],
    keyFile: flags['key-file'],
    preferred: flags['signing-prefs'],
    onUnused: () => process.exit(UNIMPLEMENTED),
  })
  return await start({ socket, tls: options(), ...identity })
}

/** Returns every byte inverted, until the runner closes the connection. */
function exchange(secured) {
  secured.on('error', fail)
  secured.on('data', (bytes) => secured.write(bytes.map((byte) => byte ^ 0xff)))
  secured.on('end', () => secured.end())
  secured.on('close', () => process.exit())
  if (flags['shim-writes-first']) secured.write('hello')
  if (flags['shim-shuts-down']) secured.end()
}

function fail(error) {
  // The runner's server has an older version only.
  const { code = '', message } = error
  if (/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/.test(code) || /TLS 1\.3$/.test(message)) {
    process.exit(UNIMPLEMENTED)
  }
  process.stderr.write(`${code} ${message}\n`)
  process.exit(1)
}
