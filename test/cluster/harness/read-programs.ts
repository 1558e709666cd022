import type { Programs } from './stage.ts'

/** Reads the paths of the programs, which `npm run test:cluster` sets. */
export function readPrograms(): Programs {
  const said = process.env['KUBECRED_CLUSTER_PROGRAMS']
  if (said === undefined) {
    throw new Error(
      'the paths of the cluster programs are not set: run this suite with npm run test:cluster',
    )
  }
  return JSON.parse(said) as Programs
}
