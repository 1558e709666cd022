// The main process of a desktop program: it was not started from a shell, and has no terminal.
//   npx electron examples/desktop/main.mjs      # shows the namespaces in a window
//   node examples/desktop/main.mjs              # prints them
import { connect, isCredentialError, loginShellEnvironment } from 'kubecred'

/** Lists the namespaces, or shows what the user must do. */
async function main(show) {
  // The PATH of a program from the dock lacks the folders of aws, gcloud and kubelogin.
  const env = await loginShellEnvironment().catch((error) => {
    show(`${error.message}. ${error.hint}`)
    return process.env
  })
  // Where plugins may be if the shell does not say it.
  const policy = { pluginFolders: ['/opt/homebrew/bin', '/usr/local/bin'] }
  const cluster = await connect({ env, policy })
  try {
    const response = await cluster.fetch('/api/v1/namespaces')
    const { items } = await response.json()
    for (const { metadata } of items) show(metadata.name)
  } catch (error) {
    if (!isCredentialError(error)) throw error
    // Shown and not run: a plugin can print any command.
    const { loginCommand } = cluster.status().credential.lastError ?? {}
    show(loginCommand ? `Needs a login: run ${loginCommand}` : `${error.message}. ${error.hint}`)
  } finally {
    await cluster.close()
  }
}

// Electron is ready only after this module has been evaluated: nothing may be awaited outside of a function.
if (process.versions.electron === undefined) void main(console.log)
else void import('./window.mjs').then(({ openWindow }) => openWindow()).then(main)
