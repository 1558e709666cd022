export { VERSION } from 'kubecred'

/** What `kubecred-token --help` prints. */
export const HELP = `kubecred-token is a credential plugin that caches the answers of other plugins.

Usage (in exec.command and exec.args of a kubeconfig):
  kubecred-token [--ttl TIME] [--depends-on FILE]… -- PLUGIN [ARGUMENT]…
  kubecred-token [--kubeconfig FILE] [--context NAME]

The first form asks the agent for the answer of PLUGIN. The agent is started if it is not running, keeps
credentials in memory only, and runs PLUGIN once for all clients that would get the same answer. The second form
prints the credential of a context. Use "kubecred wrap" to change a kubeconfig. See docs/agent.md.

  --ttl TIME         keep answers this long at most, also those without expiry
  --depends-on FILE  file that decides which account PLUGIN uses; repeatable
  --plugin-timeout TIME
                     limit for PLUGIN (default 60s, 10m at a terminal; 0 is none)
  --plugin-env LIST  environment variables passed to PLUGIN (default all)
  --kubeconfig FILE  kubeconfig file, instead of KUBECONFIG or ~/.kube/config
  --context NAME     context to use
  --help, --version

Set KUBECRED_AGENT=off to disable the agent.
`
