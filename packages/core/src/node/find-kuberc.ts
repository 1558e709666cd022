import { join } from 'node:path'
import { PolicyInvalidError } from '../errors/plugin-errors.ts'

export interface PolicyPlace {
  /** The file named by a flag or option; it must exist. */
  readonly kuberc?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
}

/**
 * Where the plugin policy is read from; undefined when somebody switched the file off.
 *
 * Apart from the reader, because a program that must start fast asks only whether there is a file.
 *
 * @throws {PolicyInvalidError}
 */
export function findKuberc({
  kuberc,
  env,
  home,
}: PolicyPlace): { path: string; isNamed: boolean } | undefined {
  const fromEnv = env['KUBERC'] || undefined
  if (fromEnv === 'off') {
    if (kuberc === undefined) return undefined
    throw new PolicyInvalidError('a kuberc file is given while KUBERC=off says to use none', {
      hint: 'Unset KUBERC, or leave --kuberc out.',
    })
  }
  const named = kuberc ?? fromEnv
  if (named !== undefined) return { path: named, isNamed: true }
  if (env['KUBECTL_KUBERC'] === 'false') return undefined
  return { path: join(home, '.kube', 'kuberc'), isNamed: false }
}
