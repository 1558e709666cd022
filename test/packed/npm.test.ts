import { describePrograms } from './describe-programs.ts'
import { Installed } from './installed.ts'

describePrograms('with npm, globally', () => Installed.withNpm())
