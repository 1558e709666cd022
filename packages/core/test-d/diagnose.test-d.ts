import {
  type ContextSummary,
  diagnose,
  type Finding,
  type inspectContexts,
  STEPS,
  type Step,
} from 'kubecred/diagnose'
import { expectTypeOf, it } from 'vitest'

it('diagnose() yields findings with their step', () => {
  expectTypeOf(diagnose).returns.toExtend<AsyncIterable<Finding>>()
  expectTypeOf<Finding['step']>().toEqualTypeOf<Step>()
  expectTypeOf(STEPS).toExtend<readonly Step[]>()
})

it('inspectContexts() returns every context', () => {
  expectTypeOf<Awaited<ReturnType<typeof inspectContexts>>>().toExtend<readonly ContextSummary[]>()
})
