import { describePrograms } from './describe-programs.ts'
import { Installed } from './installed.ts'

describePrograms('pnpm, without hoisting', () => Installed.withPnpm())
