import { describePrograms } from './describe-programs.ts'
import { Installed } from './installed.ts'

describePrograms('with pnpm, without hoisting', () => Installed.withPnpm())
