import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { makeMetrics, openScene, request } from './scene.ts'

const HOUR_MS = 3_600_000

it('a scrape after a token, certificates, a rotation and every kind of failure matches scrape.txt', async () => {
  await using scene = await openScene()
  const metrics = await makeMetrics({ now: () => scene.now })
  const { observer } = metrics

  const token = await scene.plugin()
  expect(await request(await scene.connect(token, { observer }))).toBe(200)

  const certificate = await scene.plugin({
    stdout: await scene.certificate({ notBeforeMs: -2 * HOUR_MS, notAfterMs: 10 * HOUR_MS }),
  })
  const rotating = await scene.connect(certificate, { observer })
  expect(await request(rotating)).toBe(200)
  scene.sandbox.revokeCertificates('jane')
  certificate.script.stdout = await scene.certificate({
    notBeforeMs: 0,
    notAfterMs: 20 * HOUR_MS,
  })
  expect(await request(rotating)).toBe(200)

  const failing = await scene.plugin({ exitCode: 3 })
  expect(await request(await scene.connect(failing, { observer }))).toBe('ERR_PLUGIN_EXITED')

  const slow = await scene.plugin({ delayMs: 60_000 })
  const limited = await scene.connect(slow, { observer, policy: { pluginTimeoutMs: 150 } })
  expect(await request(limited)).toBe('ERR_PLUGIN_TIMED_OUT')

  const garbled = await scene.plugin({ stdout: '<html>' })
  expect(await request(await scene.connect(garbled, { observer }))).toBe('ERR_PLUGIN_SYNTAX')

  const missing = await scene.connect({ command: 'absent-plugin' }, { observer })
  expect(await request(missing)).toBe('ERR_PLUGIN_NOT_FOUND')

  const denied = await scene.connect(token, { observer, kuberc: scene.kuberc('DenyAll') })
  expect(await request(denied)).toBe('ERR_PLUGIN_DENIED')

  const expected = readFileSync(new URL('scrape.txt', import.meta.url), 'utf8')
  expect(withoutDurations(await metrics.register.metrics())).toBe(expected)
})

/** Removes the only values that differ between runs: how long processes took. */
function withoutDurations(text: string): string {
  return text.replace(
    /^(kubecred_exec_plugin_run_duration_seconds_(?:bucket\{le="[\d.]+"\}|sum)) .*$/gm,
    '$1 …',
  )
}
