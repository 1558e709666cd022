import { loadCases } from '../case.ts'
import { certificates } from './cases/certificates.ts'
import { contexts } from './cases/contexts.ts'
import { files } from './cases/files.ts'
import { impersonation } from './cases/impersonation.ts'
import { mergedFiles } from './cases/merged-files.ts'
import { plugins } from './cases/plugins.ts'
import { policies } from './cases/policies.ts'
import { proxies } from './cases/proxies.ts'
import { servers } from './cases/servers.ts'
import { sideBySide } from './cases/side-by-side.ts'
import { tokens } from './cases/tokens.ts'
import { wildStanzas } from './cases/wild-stanzas.ts'
import type { DifferentialCase } from './command.ts'
import { fromConformance, type NotTyped } from './from-conformance.ts'

const conformance = loadCases().map(fromConformance)

/** Every case that is run with kubectl and with kubecred. */
export const typedCases: readonly DifferentialCase[] = [
  ...conformance.filter((each): each is DifferentialCase => 'play' in each),
  ...wildStanzas,
  ...tokens,
  ...certificates,
  ...sideBySide,
  ...impersonation,
  ...servers,
  ...proxies,
  ...files,
  ...mergedFiles,
  ...contexts,
  ...plugins,
  ...policies,
]

/** The cases of conformance/cases that are not run, each with a reason. */
export const notTyped: readonly NotTyped[] = conformance.filter((each) => 'why' in each)
