import workspace from '../../vitest.config.ts'

// The fast suite without its reports and type tests. Stryker says which tests to run, in its copy of the tree.
const { typecheck: _, reporters: __, ...test } = workspace.test ?? {}

export default { ...workspace, root: process.cwd(), test }
