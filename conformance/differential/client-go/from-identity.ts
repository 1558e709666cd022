import type { IdentityCase } from '../../run-identity.ts'
import type { Script } from './script.ts'

/** Two clients in one process: do they share runs and sockets? */
export function fromIdentity(id: string, { rule, first, second }: IdentityCase): Script {
  return {
    id,
    about: rule,
    play: async (play) => {
      const { sandbox, client } = play
      // A certificate, because only certificates bind a credential to its connections.
      const plugin = await sandbox.plugin({ user: 'jane', credential: 'certificate' })
      for (const side of [first, second]) {
        const { args = [], env = {}, provideClusterInfo = false, extension } = side
        const exec = {
          command: plugin.command,
          args: [...plugin.args, ...args],
          env: { ...plugin.env, ...env },
          provideClusterInfo,
        }
        const kubeconfig = sandbox.writeKubeconfig({
          user: { exec },
          ...(extension !== undefined && { extension }),
        })
        const stdinUnavailable = side.stdinUnavailable !== undefined
        await client.open({ kubeconfig, ...(stdinUnavailable && { stdinUnavailable }) })
      }
      await play.send({ client: 1 })
      await play.send({ client: 2 })
    },
  }
}
