/** The output of `kubecred-demo --help`. */
export const HELP = `kubecred-demo: watch Kubernetes credentials expire, rotate and be revoked

Usage: kubecred-demo [FLAGS]

Needs no cluster, and does not use any of yours. A small API server runs in this process, and three users send
requests to it: one with a plugin and short-lived tokens, one with a plugin and short-lived certificates, one with
a key that stays in SoftHSM or, if that is not installed, in another process. Credentials are revoked periodically.

The terminal reports what happens. A web page shows it too, and opens in your browser if there is one.

  --port NUMBER    port of the page; by default a free one
  --no-open        do not open a browser
  --duration TIME  stop after this time, such as 60s; by default the demo runs until it is stopped
  --speed NUMBER   1 to 10: how many times faster credentials expire and are revoked
  --help, --version

Ctrl-C or SIGTERM stops it with exit status 0. It leaves no files or processes behind.
`
