// Connects with a kubeconfig and a transport, and prints the status of a request or the error's code and message.
import { connect } from 'kubecred'

const [kubeconfig, transport] = process.argv.slice(2)
try {
  const cluster = await connect({ kubeconfig, ...(transport !== 'default' && { transport }) })
  const answer = await cluster.fetch('/version')
  await answer.json()
  process.stdout.write(`${answer.status}\n`)
  await cluster.close()
} catch (error) {
  process.stdout.write(`${error.code} ${error.message}\n`)
}
