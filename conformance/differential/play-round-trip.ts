import fc from 'fast-check'
import type { RoundTripCase } from '../run-round-trip.ts'
import type { Command } from './command.ts'
import type { Scene } from './scene.ts'

/** A fixed seed, so that differences are reproducible. */
const SEED = 20_260_101
const COUNT = 4

/** Random cluster entries, which plugins must receive equally from both programs. */
export function playRoundTrip({ way }: RoundTripCase, scene: Scene): readonly Command[] {
  scene.plugin()
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'plugin',
    interactiveMode: 'Never',
    provideClusterInfo: true,
  }
  const seed = way === 'entry to plugin' ? SEED : SEED + 1
  return fc.sample(anyCluster(scene), { seed, numRuns: COUNT }).map((cluster, nth) => {
    return { flags: ['--kubeconfig', scene.config({ user: { exec }, cluster }, `config-${nth}`)] }
  })
}

/** Entries that lead to the server, or to a proxy that leads there. */
function anyCluster(scene: Scene): fc.Arbitrary<object> {
  const trust = fc.constantFrom(
    {},
    { 'insecure-skip-tls-verify': true, 'certificate-authority-data': undefined },
  )
  const fields = fc.record(
    {
      'tls-server-name': fc.constant('sandbox.kubecred.test'),
      'proxy-url': fc.constant(`http://${scene.proxyHost}`),
      'disable-compression': fc.boolean(),
    },
    { requiredKeys: [] },
  )
  const path = fc.webPath()
  const config = fc.option(fc.jsonValue().filter((value) => value !== null))
  return fc.tuple(path, fields, trust, config).map(([below, some, trusted, extension]) => ({
    ...some,
    ...trusted,
    server: scene.server + below,
    ...(extension !== null && {
      extensions: [{ name: 'client.authentication.k8s.io/exec', extension }],
    }),
  }))
}
