// A program with kubernetes-fluent-client, the client of pepr: reads each ConfigMap that appears.
// Arguments: the folder of the package, and the namespace.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [, , folder, namespace] = process.argv
const path = createRequire(`${folder}/`).resolve('kubernetes-fluent-client')
const { K8s, kind } = await import(pathToFileURL(path).href)
const configMaps = () => K8s(kind.ConfigMap).InNamespace(namespace)

async function read({ metadata: { name } }, phase) {
  if (phase !== 'ADDED') return
  try {
    await configMaps().Get(name)
    process.stdout.write(`200 ${name}\n`)
  } catch (error) {
    process.stdout.write(`${error.status ?? error.message} ${name}\n`)
  }
}

await configMaps().Watch(read).start()
process.stdout.write('ready\n')
