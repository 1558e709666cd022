#!/usr/bin/env node
// A file of its own, because npm links only what is there when it installs, and that is before the build. Not a module,
// because Node starts those later.
async function start() {
  await require('../dist/bundle/kubecred.cjs').start()
}

start().catch((error) => {
  if (error?.code !== 'EMFILE' && error?.code !== 'ENFILE') throw error
  // Nothing more can be loaded, so that the words stand here.
  process.stderr.write(
    `kubecred: too many open files and connections in this process (${error.code})\n\n` +
      'Raise the limit with ulimit -n.\n' +
      '(ERR_SYSTEM_EXHAUSTED; see: kubecred explain ERR_SYSTEM_EXHAUSTED)\n',
  )
  process.exitCode = 95
})
