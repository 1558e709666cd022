import fc from 'fast-check'
import { expect, inject, it } from 'vitest'
import { type Command, World } from './model-world.ts'
import { ANSWERS, HANDLERS, SERVERS } from './scripted-handlers.ts'

/** Set KUBECRED_SEED to the seed that a failure prints to see it again. */
const seed = Number(process.env['KUBECRED_SEED'] ?? Date.now() % 2 ** 31)
const numRuns = inject('isLong') ? 1500 : 200

const which = fc.nat(7)
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('request' as const),
      origin: fc.constantFrom(undefined, undefined, ...SERVERS),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('refuse' as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('accept' as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), which }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      milliseconds: fc.oneof(fc.nat(3000), fc.nat(90_000), fc.constant(30_000)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      handler: fc.constantFrom(...HANDLERS),
      with: fc.constantFrom(...ANSWERS),
      server: fc.constantFrom(...SERVERS),
      priority: fc.constantFrom(0, 0, 5),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('finish' as const),
      handler: fc.constantFrom(...HANDLERS),
      isGood: fc.boolean(),
    }),
  },
)
const ending: fc.Arbitrary<Command[]> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Command[]>([]) },
  fc.array(command, { maxLength: 5 }).map((after) => [{ do: 'close' as const }, ...after]),
)
const histories = fc
  .tuple(fc.array(command, { minLength: 5, maxLength: 60, size: 'max' }), ending)
  .map(([before, after]) => [...before, ...after])

it('does what a simple model of it says, whatever handlers, servers and callers do', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (commands) => {
      const world = new World()
      await world.run(commands)
      expect(world.problems).toEqual([])
    }),
    { numRuns, seed },
  )
}, 120_000)

it('reports the next login, and not a late refusal, when a login has expired', async () => {
  const answer = { do: 'answer', handler: 'a', server: SERVERS[0], priority: 0 } as const
  const request = { do: 'request', origin: undefined } as const
  const wait = { do: 'wait', milliseconds: 30_000 } as const
  const refuse = { do: 'refuse', which: 0 } as const
  const world = new World()
  await world.run([
    { ...answer, with: 'stale' },
    request,
    { ...wait, milliseconds: 1000 },
    { ...answer, with: 'temporary' },
    ...[request, wait, refuse],
    ...[request, wait, refuse],
    ...[request, wait],
  ])
  expect(world.problems).toEqual([])
})
