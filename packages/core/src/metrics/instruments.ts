import type * as prom from 'prom-client'
import type { VaultLoad } from '../ports/observer.ts'
import type { SourcesInUse } from './sources-in-use.ts'

/** The part of prom-client that is used. The package is loaded on demand. */
export type PromClient = Pick<typeof prom, 'Counter' | 'Gauge' | 'Histogram' | 'register'>

/** All metrics. */
export type Instruments = ReturnType<typeof makeInstruments>

/**
 * Creates all metrics, in the order in which they are listed.
 *
 * Names, help texts, labels and buckets of the first three are exactly those of KEP-541, so that dashboards and
 * alerts for client-go keep working. The next two are also client-go's; the rest is ours.
 */
export function makeInstruments(
  { Counter, Gauge, Histogram }: PromClient,
  register: prom.Registry,
  inUse: SourcesInUse,
  now: () => number,
) {
  const registers = [register]
  const secondsUntil = (time: number): number => (time - now()) / 1000
  const counter = <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Counter<L>({ name, help, labelNames, registers })
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram<never>({ name, help, buckets, registers })
  const vaultGauge = (name: string, help: string, read: (load: VaultLoad) => number) =>
    new Gauge<never>({
      name,
      help,
      registers,
      collect() {
        this.set(inUse.sumLoads(read))
      },
    })
  return {
    ttl: new Gauge<never>({
      name: 'rest_client_exec_plugin_ttl_seconds',
      help:
        'Gauge of the shortest TTL (time-to-live) of the client ' +
        'certificate(s) managed by the auth exec plugin. The value ' +
        'is in seconds until certificate expiry (negative if ' +
        'already expired). If auth exec plugins are unused or manage no ' +
        'TLS certificates, the value will be +INF.',
      aggregator: 'min',
      registers,
      collect() {
        this.set(secondsUntil(inUse.earliestExpiries().get('exec') ?? Number.POSITIVE_INFINITY))
      },
    }),
    rotationAge: histogram(
      'rest_client_exec_plugin_certificate_rotation_age',
      'Histogram of the number of seconds the last auth exec ' +
        'plugin client certificate lived before being rotated. ' +
        'If auth exec plugin client certificates are unused, ' +
        'histogram will contain no data.',
      ROTATION_SECONDS,
    ),
    calls: counter(
      'rest_client_exec_plugin_call_total',
      'Number of calls to an exec plugin, partitioned by the type of ' +
        'event encountered (no_error, plugin_execution_error, plugin_not_found_error, ' +
        'client_internal_error) and an optional exit code. The exit code will ' +
        'be set to 0 if and only if the plugin call was successful.',
      ['code', 'call_status'],
    ),
    policyCalls: counter(
      'rest_client_exec_plugin_policy_call_total',
      'Number of evaluations of the exec plugin policy, partitioned by the ' +
        'verdict (allowed, denied). Every evaluation is counted, also if the ' +
        'policy allows all plugins.',
      ['status'],
    ),
    caReloads: counter(
      'rest_client_transport_ca_reload_total',
      'Number of times a CA reload is attempted, partitioned by the result and reason ' +
        'for the reload attempt',
      ['result', 'reason'],
    ),
    certificates: new Gauge({
      name: 'kubecred_certificate_ttl_seconds',
      help:
        'Gauge of the shortest TTL (time-to-live) of the client certificate(s) in use, ' +
        'partitioned by the kind of source that they come from. The value is in seconds ' +
        'until certificate expiry (negative if already expired).',
      labelNames: ['source'],
      aggregator: 'min',
      registers,
      collect() {
        this.reset()
        for (const [source, expiry] of inUse.earliestExpiries()) {
          this.set({ source }, secondsUntil(expiry))
        }
      },
    }),
    runDuration: histogram(
      'kubecred_exec_plugin_run_duration_seconds',
      'Histogram of the number of seconds between start and end of an exec ' +
        'plugin process, whatever its outcome. Waiting for a free slot is not included.',
      RUN_SECONDS,
    ),
    refreshes: counter(
      'kubecred_refresh_total',
      'Number of times a credential was fetched from its source, partitioned by ' +
        'the reason (first, expired, ahead, refused), the kind of source and the ' +
        'outcome (new, same, failed).',
      ['reason', 'source', 'outcome'],
    ),
    refused: counter(
      'kubecred_refused_total',
      'Number of times the server refused the credential in use, partitioned by ' +
        'HTTP status. Refusals of a credential that has been replaced are not counted.',
      ['status'],
    ),
    retried: counter(
      'kubecred_retried_total',
      'Number of requests that were sent again with a new credential.',
    ),
    logins: counter(
      'kubecred_login_total',
      'Number of logins, partitioned by login handler and outcome (new, same, ' +
        'nothing, failed). A login may have several attempts.',
      ['handler', 'outcome'],
    ),
    loginRetries: counter(
      'kubecred_login_retried_total',
      'Number of login attempts that failed and were retried, partitioned by login handler.',
      ['handler'],
    ),
    loginDuration: histogram(
      'kubecred_login_duration_seconds',
      'Histogram of the number of seconds that a login took, including all attempts ' +
        'and pauses, whatever its outcome.',
      RUN_SECONDS,
    ),
    loginRefused: counter(
      'kubecred_login_refused_total',
      'Number of times a server refused the credential of a login handler, ' +
        'partitioned by login handler.',
      ['handler'],
    ),
    loginExpired: counter(
      'kubecred_login_expired_total',
      'Number of times the credential of a login handler expired before it was renewed, ' +
        'partitioned by login handler.',
      ['handler'],
    ),
    depletions: counter(
      'kubecred_vault_depleted_total',
      'Number of times a vault had no usable credential left.',
    ),
    frozenSeconds: counter(
      'kubecred_vault_frozen_seconds_total',
      'Number of seconds that requests waited for a login, counted when the wait is over.',
    ),
    frozen: vaultGauge(
      'kubecred_vault_frozen',
      'Gauge of the number of vaults whose requests currently wait for a login.',
      ({ isFrozen }) => Number(isFrozen),
    ),
    waiting: vaultGauge(
      'kubecred_vault_waiting_requests',
      'Gauge of the number of requests that currently wait for a login.',
      (load) => load.waiting,
    ),
    givenUp: counter(
      'kubecred_vault_failed_total',
      'Number of requests that failed because no handler logged in, or none did in time.',
    ),
    excluded: vaultGauge(
      'kubecred_vault_excluded_logins',
      'Gauge of the number of logins that are currently excluded because a server refused them.',
      (load) => load.excluded,
    ),
  }
}

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MONTH = 30 * DAY

/** Below an hour is too fast, four hours to a month is normal, more is too slow. */
const ROTATION_SECONDS = [
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  4 * HOUR,
  DAY,
  7 * DAY,
  MONTH,
  3 * MONTH,
  6 * MONTH,
  12 * MONTH,
  48 * MONTH,
]

/** From a plugin that answers from its cache to a person who confirms a login; 60 and 600 are the time limits. */
const RUN_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 600]
