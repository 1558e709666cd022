// The v8 coverage of vitest, from this folder: a provider named `v8` would be loaded from the workspace.
import v8 from '@vitest/coverage-v8'

export default {
  ...v8,
  getProvider: async () => Object.assign(await v8.getProvider(), { name: 'custom' }),
}
