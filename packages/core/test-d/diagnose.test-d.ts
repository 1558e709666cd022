import {
  type ContextSummary,
  diagnose,
  type Finding,
  STEPS,
  type Step,
  type survey,
} from 'kubecred/diagnose'
import { expectTypeOf, it } from 'vitest'

it('diagnose() yields findings with their step', () => {
  expectTypeOf(diagnose).returns.toExtend<AsyncIterable<Finding>>()
  expectTypeOf<Finding['step']>().toEqualTypeOf<Step>()
  expectTypeOf(STEPS).toExtend<readonly Step[]>()
})

it('survey() returns every context', () => {
  expectTypeOf<Awaited<ReturnType<typeof survey>>>().toExtend<readonly ContextSummary[]>()
})
