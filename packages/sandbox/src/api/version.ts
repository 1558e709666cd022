/** The body of `/version`: a Kubernetes version, marked as the sandbox's. */
export const VERSION = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.0+sandbox',
  gitCommit: '0000000000000000000000000000000000000000',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'sandbox',
}
