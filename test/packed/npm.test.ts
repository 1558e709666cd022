import { describePrograms } from './describe-programs.ts'
import { Installed } from './installed.ts'

describePrograms('npm, globally', () => Installed.withNpm())
