import { type Clock, FakeClock, FakePrograms, type Programs } from 'kubecred/testing'
import { expectTypeOf, it } from 'vitest'

it('kubecred/testing has a fake for each port it names', () => {
  expectTypeOf<FakeClock>().toExtend<Clock>()
  expectTypeOf<FakePrograms>().toExtend<Programs>()
  expectTypeOf(FakeClock).toBeConstructibleWith()
  expectTypeOf(FakePrograms).toBeObject()
})
