import { encodeJson } from '../protocol/json.ts'
import type { ExecPlugin } from './exec-source.ts'

/**
 * Everything that makes two plugin users different, as one text.
 *
 * Two connections with the same text mean the same credential and share it. The text holds secrets:
 * hash it with the process's own key, never store or show it.
 */
export function execIdentity(
  { exec, cluster, policy, ...rest }: ExecPlugin,
  more: unknown,
): string {
  return encodeJson({
    ...exec,
    args: exec.args.map((arg) => arg.expose()),
    env: exec.env.map(({ name, value }) => [name, value.expose()]),
    cluster: exec.provideClusterInfo ? cluster : undefined,
    policy,
    rest,
    more,
  })
}
