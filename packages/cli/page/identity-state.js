/**
 * Returns the state of an identity: a text, a mood (good, calm, wait, warn, bad), whether a run is in progress, and
 * whether it needs attention.
 */
export function describeState(view, now) {
  const { credential, prompt, runningSince } = view
  if (prompt !== undefined) {
    return { mood: 'wait', text: 'needs you', isBusy: true, isTrouble: true }
  }
  const isBusy = runningSince !== undefined || credential.state === 'running'
  const [mood, text] = STATES[credential.state]({ ...credential, isBusy, now })
  return { mood, text, isBusy, isTrouble: mood === 'bad' || mood === 'warn' }
}

const STATES = {
  closed: () => ['calm', 'closed'],
  empty: ({ isBusy, acquiredAt }) => {
    if (isBusy) return ['wait', 'fetching']
    return ['calm', acquiredAt === undefined ? 'not needed yet' : 'expired, not in use']
  },
  running: () => ['wait', 'fetching'],
  refused: ({ isBusy }) => (isBusy ? ['wait', 'refused, fetching'] : ['bad', 'refused']),
  failed: ({ isBusy, lastError }) => {
    const text = lastError?.loginCommand === undefined ? 'failed' : 'needs a login'
    return ['bad', isBusy ? `${text}, trying again` : text]
  },
  ready: ({ isBusy, source, expiresAt, lastError, now }) => {
    if (source.kind === 'anonymous') return ['calm', 'anonymous']
    if (expiresAt <= now) return isBusy ? ['wait', 'fetching'] : ['calm', 'expired, not in use']
    if (lastError !== undefined) return ['warn', 'ready, last run failed']
    return ['good', isBusy ? 'refreshing' : 'ready']
  },
}
