import type { Programs } from './stage.ts'

/** Where the programs are: `npm run test:cluster` says it to those it starts. */
export function readPrograms(): Programs {
  const said = process.env['KUBECRED_CLUSTER_PROGRAMS']
  if (said === undefined) {
    throw new Error(
      'the programs of the cluster are not known: start this suite by npm run test:cluster',
    )
  }
  return JSON.parse(said) as Programs
}
