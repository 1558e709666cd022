import type { UnexpectedError } from 'kubecred/errors'
import type { LiveState } from '../page/live-state.ts'
import { type StartedPage, startPage } from '../page/start-page.ts'
import type { ProxyMetrics } from './proxy-metrics.ts'
import { readSecret } from './read-secret.ts'
import type { ProxySettings } from './read-settings.ts'

/** Starts the page, and serves the metrics with it. Returns undefined if the page is off. */
export async function openPage(
  state: LiveState,
  { pagePort, pageSecretFile }: Pick<ProxySettings, 'pagePort' | 'pageSecretFile'>,
  metrics: ProxyMetrics | undefined,
  onError: (error: UnexpectedError) => void,
): Promise<StartedPage | undefined> {
  if (pagePort === undefined) return undefined
  return startPage({
    state,
    port: pagePort,
    onError,
    ...(pageSecretFile !== undefined && { secret: readSecret(pageSecretFile, 'page-secret-file') }),
    ...(metrics !== undefined && { routes: { '/metrics': () => metrics.read() } }),
  })
}
