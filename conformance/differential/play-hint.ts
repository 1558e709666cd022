import type { HintCase } from '../run-hint.ts'
import type { Command } from './command.ts'
import type { Scene } from './scene.ts'

/** One call per command, because it cannot be observed how often one process shows the hint. */
export function playHint({ installHint }: HintCase, scene: Scene): readonly Command[] {
  const apiVersion = 'client.authentication.k8s.io/v1'
  const exec = { apiVersion, command: 'absent-plugin', interactiveMode: 'Never', installHint }
  scene.config({ user: { exec } })
  return [{ mayShow: installHint }]
}
