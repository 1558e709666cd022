// The settings with which esbuild bundles the programs of packages/cli: into files (bundle.mjs) and into one executable
// (build-executable.mjs).
export const SETTINGS = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  // From the sources, including the library's, so that unused functions are left out.
  conditions: ['kubecred-source'],
  tsconfigRaw: { compilerOptions: { target: 'es2023' } },
  // Without names of variables and functions: they make stack traces readable.
  minifyWhitespace: true,
  minifySyntax: true,
  // Node's `import()` would start its loader of modules, and an executable has none for its own code.
  supported: { 'dynamic-import': false },
  logLevel: 'warning',
}
