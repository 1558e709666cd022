import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

const COUNT = 10

/** Prints the slowest test files at the end, so that a new slow test is noticed. */
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules
      .map((module) => ({ file: relative(process.cwd(), module.moduleId), ms: durationOf(module) }))
      .sort((a, b) => b.ms - a.ms)
      .slice(0, COUNT)
      .map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`)
    process.stdout.write(`\nThe slowest files:\n${lines.join('\n')}\n`)
  }
}

function durationOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic()
  return collectDuration + setupDuration + duration
}
