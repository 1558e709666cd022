import type { UnexpectedError } from 'kubecred/errors'
import type { LiveState } from '../page/live-state.ts'
import { type StartedPage, startPage } from '../page/start-page.ts'
import { followFiles } from './follow-files.ts'
import type { ProxyMetrics } from './proxy-metrics.ts'
import { readSecret } from './read-secret.ts'
import type { ProxySettings } from './read-settings.ts'

interface PageCallbacks {
  readonly onError: (error: UnexpectedError) => void
  /** Called with a message for the user. */
  readonly onProblem: (message: string) => void
}

/** Starts the page, and serves the metrics with it. Returns undefined if the page is off. */
export async function openPage(
  state: LiveState,
  { pagePort, pageSecretFile: file }: Pick<ProxySettings, 'pagePort' | 'pageSecretFile'>,
  metrics: ProxyMetrics | undefined,
  { onError, onProblem }: PageCallbacks,
): Promise<Omit<StartedPage, 'replaceSecret'> | undefined> {
  if (pagePort === undefined) return undefined
  const page = await startPage({
    state,
    port: pagePort,
    onError,
    ...(file !== undefined && { secret: readSecret(file, 'page-secret-file') }),
    ...(metrics !== undefined && { routes: { '/metrics': () => metrics.read() } }),
  })
  if (file === undefined) return page
  const apply = (): void => page.replaceSecret(readSecret(file, 'page-secret-file'))
  const stop = followFiles([file], 'secret of the page', apply, onProblem)
  const close = (): Promise<void> => {
    stop()
    return page.close()
  }
  return { ...page, close }
}
