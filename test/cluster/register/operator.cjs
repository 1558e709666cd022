// An operator with @dot-i/k8s-operator, which embeds client-node 0.20: reads each ConfigMap that appears.
// Arguments: the folder of the package, and the namespace.
const { createRequire } = require('node:module')

const [, , folder, namespace] = process.argv
const { default: Operator } = createRequire(`${folder}/`)('@dot-i/k8s-operator')

class Reader extends Operator {
  async init() {
    await this.watchResource('', 'v1', 'configmaps', (event) => this.read(event), namespace)
    process.stdout.write('ready\n')
  }

  async read({ type, meta: { name } }) {
    if (type !== 'ADDED') return
    try {
      await this.k8sApi.readNamespacedConfigMap(name, namespace)
      process.stdout.write(`200 ${name}\n`)
    } catch (error) {
      process.stdout.write(`${error.statusCode ?? error.message} ${name}\n`)
    }
  }
}

new Reader().start()
