import {
  type ContextSummary,
  diagnose,
  type Finding,
  STEPS,
  type Step,
  type survey,
} from 'kubecred/diagnose'
import { expectTypeOf, it } from 'vitest'

it('diagnose() gives findings as they are made, each with its step', () => {
  expectTypeOf(diagnose).returns.toExtend<AsyncIterable<Finding>>()
  expectTypeOf<Finding['step']>().toEqualTypeOf<Step>()
  expectTypeOf(STEPS).toExtend<readonly Step[]>()
})

it('survey() looks at every context', () => {
  expectTypeOf<Awaited<ReturnType<typeof survey>>>().toExtend<readonly ContextSummary[]>()
})
