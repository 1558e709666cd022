import type { Command, DifferentialCase } from '../command.ts'
import type { Scene } from '../scene.ts'

/** A case with a kubeconfig text; `{{…}}` are filled in. */
export function reading(
  id: string,
  about: string,
  text: string | ((plain: string, scene: Scene) => string | Uint8Array),
  command: Command = {},
): DifferentialCase {
  return {
    id,
    about,
    play: (scene) => {
      const plain = filled(PLAIN, scene)
      scene.write('config', typeof text === 'string' ? filled(text, scene) : text(plain, scene))
      return [command]
    },
  }
}

export const CLUSTER = `- name: c
  cluster:
    server: {{server}}
    certificate-authority-data: {{ca}}
`
export const CONTEXT = `- name: here
  context: {cluster: c, user: u}
`
export const USER = `- name: u
  user:
    token: {{token}}
`
export const PLAIN = `apiVersion: v1
kind: Config
current-context: here
clusters:
${CLUSTER}contexts:
${CONTEXT}users:
${USER}`

export function filled(text: string, scene: Scene): string {
  return text
    .replaceAll('{{server}}', scene.server)
    .replaceAll('{{ca}}', scene.caData)
    .replaceAll('{{token}}', scene.token('jane'))
    .replaceAll('{{other token}}', scene.token('max'))
}
