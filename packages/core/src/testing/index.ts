export type { Clock } from '../ports/clock.ts'
export type { Located, Programs, RunOutcome, RunRequest } from '../ports/programs.ts'
export { FakeClock } from './fake-clock.ts'
export { FakePrograms } from './fake-programs.ts'
