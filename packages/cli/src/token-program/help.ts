export { VERSION } from 'kubecred'

/** What `kubecred-token --help` prints. */
export const HELP = `kubecred-token: a credential plugin that keeps what other plugins answer

Usage, in exec.command and exec.args of a kubeconfig:
  kubecred-token [--ttl TIME] [--depends-on FILE]… -- PLUGIN [ARGUMENT]…
  kubecred-token [--kubeconfig FILE] [--context NAME]

The first form asks the agent for what PLUGIN would answer. The agent is started when there is none, keeps
credentials in memory only, and runs PLUGIN once for all who ask the same. The second gives the credential of a
context. Use "kubecred wrap" to change a kubeconfig, and see docs/agent.md.

  --ttl TIME         keep an answer this long: also one without an end, and none for longer
  --depends-on FILE  what FILE holds decides who PLUGIN answers for; repeatable
  --plugin-timeout TIME
                     limit for PLUGIN: 60s, 10m at a terminal; 0 is none
  --plugin-env LIST  variables that PLUGIN may see; all unless given
  --kubeconfig FILE  kubeconfig file, in place of KUBECONFIG or ~/.kube/config
  --context NAME     context to use
  --help, --version

KUBECRED_AGENT=off does without the agent.
`
