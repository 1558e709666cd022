import type { Reporter, TestModule } from 'vitest/node'
import { show } from './page.ts'

/** Prints at the end what the fault tests have measured with `annotate(…, 'figures')`. */
export class FiguresReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules
      .flatMap((module) => [...module.children.allTests()])
      .flatMap((test) =>
        test
          .annotations()
          .filter(({ type }) => type === 'figures')
          .map(({ message }) => `- ${test.fullName.replaceAll(' > ', ' ')}: **${message}**`),
      )
    if (lines.length > 0) show('figures', `${lines.sort().join('\n')}\n`)
  }
}
