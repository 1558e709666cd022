import type { Source } from './source.ts'

/** Several sources whose credentials are used together, such as a token file beside a client certificate. */
export function combinedSource(sources: readonly [Source, ...Source[]]): Source {
  const [first] = sources
  if (sources.length === 1) return first
  return {
    label: { kind: first.label.kind, name: sources.map(({ label }) => label.name).join(' and ') },
    watch(onChange) {
      const stops = sources.map((source) => source.watch?.(onChange))
      return () => {
        for (const stop of stops) stop?.()
      }
    },
    async acquire(ask) {
      const parts = await Promise.all(sources.map((source) => source.acquire(ask)))
      return {
        credential: Object.assign({}, ...parts.map((part) => part.credential)),
        expiresAt: Math.min(...parts.map((part) => part.expiresAt)),
      }
    },
  }
}
