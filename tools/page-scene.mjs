// Five minutes of simulated events for the page: three identities and their traffic, with a simulated clock.
// The events are always the same, so that screenshots differ only where the page does.

const MINUTE = 60_000

/** Creates a clock that starts five minutes ago and can be advanced. */
export function makeClock() {
  let shift = -5 * MINUTE
  return {
    now: () => Date.now() + shift,
    /** Advances the clock. */
    pass(milliseconds) {
      shift += milliseconds
    },
  }
}

/** Feeds the events into a state. */
export function playScene(state, clock, { hasTrouble }) {
  const random = makeRandom(7)
  const jane = addIdentity(state, 'jane', {
    title: 'jane@production',
    source: { kind: 'exec', name: '/usr/local/bin/aws-iam-authenticator' },
    parts: ['token'],
    lifetimeMs: 48_000,
  })
  const robot = addIdentity(state, 'robot', {
    title: 'build-robot@staging',
    source: { kind: 'exec', name: '/opt/step/bin/step-kubernetes' },
    parts: ['certificate'],
    lifetimeMs: 150_000,
  })
  const sam = addIdentity(state, 'sam', {
    title: 'sam@vault',
    source: { kind: 'signer', name: 'kubecred-pkcs11' },
    parts: ['certificate'],
    lifetimeMs: 3_600_000,
  })
  const refusals = [112, 236]
  const signatures = [4, 20, 95, 170, 245]
  state.countOpen(() => 4)
  for (const identity of [jane, robot, sam]) identity.run('first', clock.now(), 180)
  for (let second = 0; second < 300; second += 1) {
    clock.pass(1000)
    const now = clock.now()
    for (const identity of [jane, robot]) identity.runIfDue(now, 140 + random() * 120)
    if (signatures.includes(second)) sam.sign(37)
    if (refusals.includes(second)) jane.refuse(now, 5)
    if (hasTrouble && second === 262) robot.fail(now)
    playTraffic(state, { second, now, random, extraMs: refusals.includes(second) ? 210 : 0 })
  }
  if (hasTrouble) sam.ask('Touch the key that blinks.')
}

/** Adds one second of requests: in waves, sometimes a slow one, rarely one that fails. */
function playTraffic(state, { second, now, random, extraMs }) {
  const requests = 14 + Math.round(9 * Math.sin(second / 17) + random() * 7)
  for (let at = 0; at < requests; at += 1) {
    const tookMs = 2.1 + random() * 3 + extraMs + (random() < 0.02 ? 40 : 0)
    const status = second % 97 === 50 && at === 0 ? 404 : 200
    const request = { method: 'GET', path: '/api/v1/pods', isUpgrade: false }
    state.recordRequest({ ...request, at: now, status, tookMs })
  }
}

/** Creates an identity with a simulated connection. */
export function addIdentity(state, id, { title, source, holds, lifetimeMs }) {
  const { observer, attach } = state.identity(id, title)
  const credential = { source, state: 'empty', runs: 0 }
  const emit = (event) => observer({ source, ...event })
  attach({
    status: () => ({
      server: 'https://10.0.0.1:6443',
      namespace: 'default',
      credential: { ...credential },
    }),
    renew: async () => {},
    forget() {},
  })
  const succeed = (reason, now, tookMs) => {
    const expiresAt = now + lifetimeMs
    Object.assign(credential, { state: 'ready', acquiredAt: now, expiresAt, lastRunMs: tookMs })
    credential.runs += 1
    delete credential.lastError
    delete credential.nextTryAt
    emit({ type: 'run-succeeded', reason, tookMs, isSame: false, expiresAt, holds })
  }
  const run = (reason, now, tookMs) => {
    emit({ type: 'run-started', reason, ahead: reason === 'ahead' })
    succeed(reason, now, tookMs)
  }
  return {
    run,
    runIfDue(now, tookMs) {
      if (credential.acquiredAt + lifetimeMs * 0.8 < now) run('ahead', now, tookMs)
    },
    refuse(now, requests) {
      emit({ type: 'refused', status: 401 })
      emit({ type: 'run-started', reason: 'refused', ahead: false })
      succeed('refused', now, 204)
      for (let at = 0; at < requests; at += 1) emit({ type: 'retried', method: 'GET', path: '/' })
    },
    fail(now) {
      const message =
        'plugin "step-kubernetes" exited with status 1: dial tcp 10.0.0.7:443: i/o timeout'
      const hint = 'Read what the plugin said, mend it, and try again.'
      const nextTryAt = now + 55_000
      credential.runs += 1
      Object.assign(credential, {
        lastError: { code: 'ERR_PLUGIN_EXITED', message, hint },
        nextTryAt,
      })
      emit({
        type: 'run-failed',
        reason: 'ahead',
        tookMs: 3100,
        error: { message, hint },
        nextTryAt,
      })
    },
    sign: (tookMs) => emit({ type: 'signed', scheme: 'ecdsa_secp256r1_sha256', tookMs }),
    ask: (text) => emit({ type: 'user-prompt', text }),
  }
}

/** Returns a deterministic sequence of random numbers. */
function makeRandom(seed) {
  let value = seed
  return () => {
    value = (value * 16_807) % 2_147_483_647
    return value / 2_147_483_647
  }
}
