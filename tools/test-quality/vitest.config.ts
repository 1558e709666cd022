import workspace from '../../vitest.config.ts'

// The fast suite without its reports and type tests. Stryker says which tests to run, in its copy of the tree.
const { typecheck: _, reporters: __, ...test } = workspace.test ?? {}

// None of these tests needs a second. A mutant that lets one wait forever is found sooner this way.
const testTimeout = 4_000

export default { ...workspace, root: process.cwd(), test: { ...test, testTimeout } }
