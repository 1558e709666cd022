import { createHash } from 'node:crypto'
import { SignRequestError } from '../../errors/authoring-errors.ts'
import { parseJson } from '../../protocol/parse-json.ts'
import { type Fields, isFields, nameType } from '../../protocol/plain-object.ts'
import { SIGNER_API_VERSION, SIGNER_KINDS } from '../../protocol/signer-wire.ts'
import { decodeBytes } from './decode-bytes.ts'
import { hashOf, schemeOf } from './scheme-of.ts'
import type { AskedOfSigner, SignerConfiguration, SignerKinds } from './sign-request.ts'

/**
 * Reads one request of a client, in the words of the specification or of the plugin of 2020.
 *
 * @param message The message in base64 where it came beside the request, and not in it.
 * @throws {SignRequestError} Names the field, never its value: the configuration may hold a PIN.
 */
export function decodeSignRequest(text: string, message?: string): AskedOfSigner {
  const fields = parse(text)
  if (fields['apiVersion'] !== SIGNER_API_VERSION) {
    throw new SignRequestError('apiVersion', `is not ${SIGNER_API_VERSION}`, {
      hint: 'Update the client or the signer: there is only this version.',
    })
  }
  const { is, kinds } = readKind(fields['kind'])
  const configuration = readConfiguration(fields['configuration'])
  if (is === 'certificate') return { is, kinds, configuration }
  const digest = readBytes(fields['digest'], 'digest')
  const scheme = schemeOf(fields, digest)
  const beside = 'message' in fields ? fields['message'] : message
  return {
    is,
    kinds,
    configuration,
    scheme,
    digest,
    message: scheme === 'ed25519' ? digest : readMessage(beside, digest, hashOf(scheme)),
  }
}

function parse(text: string): Fields {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (cause) {
    throw new SignRequestError('', `is no JSON: ${(cause as Error).message}`, { cause })
  }
  if (!isFields(value)) {
    throw new SignRequestError('', `is ${nameType(value)} where an object belongs`)
  }
  return value
}

function readKind(kind: unknown): { is: AskedOfSigner['is']; kinds: SignerKinds } {
  for (const kinds of Object.values(SIGNER_KINDS)) {
    if (kind === kinds.certificateRequest) return { is: 'certificate', kinds }
    if (kind === kinds.signRequest) return { is: 'sign', kinds }
  }
  const { certificateRequest, signRequest } = SIGNER_KINDS.specification
  throw new SignRequestError('kind', `is neither ${certificateRequest} nor ${signRequest}`)
}

function readConfiguration(value: unknown): SignerConfiguration {
  if (!isFields(value)) {
    const what = value === undefined ? 'is missing' : `is ${nameType(value)}`
    throw new SignRequestError('configuration', `${what} where an object belongs`)
  }
  const wrong = Object.entries(value).find(([, each]) => typeof each !== 'string')
  if (wrong !== undefined) {
    const [name, each] = wrong
    const field = `configuration.${name.slice(0, 40)}`
    throw new SignRequestError(field, `is ${nameType(each)} where text belongs`, {
      hint: 'Put the value in quotes in the kubeconfig.',
    })
  }
  return value as SignerConfiguration
}

function readMessage(value: unknown, digest: Uint8Array, hash: string): Uint8Array | undefined {
  if (value === undefined) return undefined
  const message = readBytes(value, 'message')
  if (!createHash(hash).update(message).digest().equals(digest)) {
    throw new SignRequestError('message', 'has another digest than the one beside it')
  }
  return message
}

function readBytes(value: unknown, field: string): Uint8Array {
  if (typeof value !== 'string') {
    const what = value === undefined ? 'is missing' : `is ${nameType(value)}`
    throw new SignRequestError(field, `${what} where base64 belongs`)
  }
  const bytes = decodeBytes(value)
  if (bytes === undefined) throw new SignRequestError(field, 'is no base64')
  if (bytes.length === 0) throw new SignRequestError(field, 'is empty')
  return bytes
}
