import type { ExecLimits } from '../sources/exec-source.ts'

/** Limits of a plugin behind `kubecred-token`. What it prints must fit into a frame, as base64. */
export const PLUGIN_LIMITS: ExecLimits = {
  timeoutMs: 60_000,
  interactiveTimeoutMs: 600_000,
  stdoutBytes: 512 * 1024,
}
