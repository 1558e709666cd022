/**
 * Says how an identity is doing: in words, as a mood (good, calm, wait, warn, bad), whether something runs for it, and
 * whether a person should look.
 */
export function judge(view, now) {
  const { credential, prompt, runningSince } = view
  if (prompt !== undefined) {
    return { mood: 'wait', words: 'needs you', isBusy: true, isTrouble: true }
  }
  const isBusy = runningSince !== undefined || credential.state === 'running'
  const [mood, words] = JUDGES[credential.state]({ ...credential, isBusy, now })
  return { mood, words, isBusy, isTrouble: mood === 'bad' || mood === 'warn' }
}

const JUDGES = {
  closed: () => ['calm', 'closed'],
  empty: ({ isBusy, acquiredAt }) => {
    if (isBusy) return ['wait', 'fetching']
    return ['calm', acquiredAt === undefined ? 'not needed yet' : 'ended, not in use']
  },
  running: () => ['wait', 'fetching'],
  refused: ({ isBusy }) => (isBusy ? ['wait', 'refused, fetching'] : ['bad', 'refused']),
  failed: ({ isBusy }) => ['bad', isBusy ? 'failed, trying again' : 'failed'],
  ready: ({ isBusy, source, expiresAt, lastError, now }) => {
    if (source.kind === 'anonymous') return ['calm', 'anonymous']
    if (expiresAt <= now) return isBusy ? ['wait', 'fetching'] : ['calm', 'ended, not in use']
    if (lastError !== undefined) return ['warn', 'ready, last run failed']
    return ['good', isBusy ? 'refreshing' : 'ready']
  },
}
