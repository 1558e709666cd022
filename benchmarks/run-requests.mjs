// The command of run-command.mjs: prints the time of its first request through `kubecred run`, and the median of later ones,
// each on a new connection. Requests to the server itself come first, so that this process is warm.
import { readFileSync } from 'node:fs'
import { get } from 'node:https'
import { median } from './measure.mjs'

const { KUBECRED_SERVER, KUBECRED_TOKEN, KUBECRED_CA } = process.env
const own = { authorization: 'Bearer benchmark' }
const direct = () => timeOf(process.argv[2], { headers: own, rejectUnauthorized: false })
const headers = { authorization: `Bearer ${KUBECRED_TOKEN}` }
const through = () => timeOf(KUBECRED_SERVER, { headers, ca: readFileSync(KUBECRED_CA) })

for (let count = 0; count < 5; count += 1) await direct()
const first = await through()
const later = []
for (let count = 0; count < 7; count += 1) later.push(await through())
process.stdout.write(JSON.stringify({ first, later: median(later) }))

function timeOf(server, options) {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const request = get(`${server}/version`, { ...options, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`))
      response.resume()
      response.once('end', () => resolve(performance.now() - began))
    })
    request.once('error', reject)
  })
}
