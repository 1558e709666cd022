import process from 'node:process'

/** The runtime of this process. Bun and Deno say so themselves; they also claim to be some version of Node. */
export const RUNTIME =
  'bun' in process.versions ? 'Bun' : 'deno' in process.versions ? 'Deno' : 'Node'
