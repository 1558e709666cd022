// With metrics for Prometheus: lists the namespaces, then prints what a scrape would return. It needs prom-client.
import { connect } from 'kubecred'
import { createMetrics } from 'kubecred/metrics'
import { register } from 'prom-client'

const metrics = await createMetrics({ register })
const cluster = await connect({ observer: metrics.observer })
const response = await cluster.fetch('/api/v1/namespaces')
const { items } = await response.json()
for (const { metadata } of items) console.log(metadata.name)

// A service returns this at /metrics.
console.log(await register.metrics())
await cluster.close()
