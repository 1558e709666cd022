import { type Sandbox, startSandbox } from '@kubecred/sandbox'

/** Two API servers that know nothing of each other. */
export interface TwoServers extends AsyncDisposable {
  readonly one: Sandbox
  readonly two: Sandbox
}

export async function startTwoServers(): Promise<TwoServers> {
  const [one, two] = await Promise.all([startSandbox(), startSandbox()])
  const close = async (): Promise<void> => void (await Promise.all([one.close(), two.close()]))
  return { one, two, [Symbol.asyncDispose]: close }
}

/** What a login handler returns for a user of a server. */
export const infoOf = (sandbox: Sandbox, user: string) => ({
  server: sandbox.url,
  caData: sandbox.caPem,
  token: sandbox.issueToken({ user }).token,
})
