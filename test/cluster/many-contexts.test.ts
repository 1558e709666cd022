import { expect, inject, it } from 'vitest'

/** The types of the benchmark, which is JavaScript. */
interface Benchmark {
  compareWithKubectl(program: string, kind: string): { kubecred: number; kubectl: number }
}

const benchmark = new URL('../../benchmarks/many-contexts.mjs', import.meta.url).href
const { compareWithKubectl }: Benchmark = await import(benchmark)
const { programs } = inject('cluster')

it.for(['plugins', 'tokens'])(
  'status with ten thousand contexts, all with %s, takes at most twice as long as kubectl config get-contexts',
  async (kind, { annotate }) => {
    const { kubecred, kubectl } = compareWithKubectl(programs.kubectl, kind)
    const ratio = kubecred / kubectl
    await annotate(`${ratio.toFixed(2)} times as long`, 'figures')
    expect(ratio).toBeLessThanOrEqual(2)
  },
)
