import { realpath } from 'node:fs/promises'
import { parseKubeconfigText } from '../kubeconfig/parse-kubeconfig-text.ts'
import type { OidcTokens } from '../ports/oidc.ts'
import { editYaml } from '../protocol/edit-yaml.ts'
import { withLocks } from './lock-file.ts'
import { readBoundedFile } from './read-bounded-file.ts'
import { MAX_KUBECONFIG_BYTES } from './read-kubeconfig-files.ts'
import { replaceFile } from './replace-file.ts'

const BYTE_ORDER_MARK = '\u{feff}'

export interface WriteOptions {
  /** The refresh token that the entry must still have; with another, somebody else has refreshed. */
  readonly expected: OidcTokens
  readonly longestWaitMs?: number
}

/**
 * Writes the tokens of a login into the user entry of a kubeconfig, and nothing else.
 *
 * Under kubectl's lock the file is read again, so that what others wrote meanwhile stays. A symbolic link
 * stays one: the file it leads to is replaced.
 *
 * @throws {Error} With a message for people; the file is as it was.
 */
export async function writeTokens(
  { file, user }: { readonly file: string; readonly user: string },
  tokens: OidcTokens,
  { expected, longestWaitMs }: WriteOptions,
): Promise<'saved' | 'changed'> {
  const real = await realpath(file)
  // kubectl locks the name it was given, others may know the file by its own.
  const work = async (): Promise<'saved' | 'changed'> => {
    const text = decode(await readBoundedFile(real, { mostBytes: MAX_KUBECONFIG_BYTES }))
    const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
    const body = text.slice(mark.length)
    const provider = parseKubeconfigText(body, file).users.get(user)?.authProvider
    const found = provider?.config.get('refresh-token')?.expose()
    if (provider?.name !== 'oidc' || found !== expected.refreshToken?.expose()) return 'changed'
    const path = ['users', { named: user }, 'user', 'auth-provider', 'config']
    await replaceFile(real, mark + editYaml(body, path, valuesOf(tokens)))
    return 'saved'
  }
  return withLocks([file, real], work, longestWaitMs)
}

function valuesOf({ idToken, refreshToken }: OidcTokens): Record<string, string> {
  return {
    ...(idToken && { 'id-token': idToken.expose() }),
    ...(refreshToken && { 'refresh-token': refreshToken.expose() }),
  }
}

/** Anything but UTF-8 would come out as something else. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Error('the file is not UTF-8 text')
  }
}
