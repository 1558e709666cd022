/** What `kubecred-demo --help` prints. */
export const HELP = `kubecred-demo: what happens to Kubernetes credentials, on a cluster in this process

Usage: kubecred-demo [FLAGS]

Needs no cluster, and touches none of yours. A small API server runs in this process; three identities use it
all the time: one with a plugin and short tokens, one with a plugin and short certificates, one with a key that
stays in SoftHSM or, where there is none, in another process. Now and then a credential is revoked.

The terminal reports what happens. A page shows it, and is opened in the browser where there is one.

  --port NUMBER    port of the page; by default any that is free
  --no-open        do not open a browser
  --duration TIME  end after this time: 60s; by default a person ends it
  --speed NUMBER   from 1 to 10: credentials live shorter and are revoked sooner, so many times
  --help, --version

Ctrl-C or SIGTERM ends it with the exit status 0. Nothing is left behind.
`
