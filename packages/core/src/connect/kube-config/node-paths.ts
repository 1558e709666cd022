import nodePath from 'node:path'
import type { Paths } from '../../kubeconfig/resolve-paths.ts'

/** Paths of this machine, for those who read kubeconfigs. */
export const NODE_PATHS: Paths = {
  separator: nodePath.sep,
  isAbsolute: nodePath.isAbsolute,
  join: nodePath.join,
  dirname: nodePath.dirname,
}
