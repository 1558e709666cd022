import type { Command, DifferentialCase } from '../command.ts'
import type { Scene } from '../scene.ts'

/** A case with a token and fields of the cluster entry. */
export function reaching(
  id: string,
  about: string,
  cluster: (scene: Scene) => object,
  command: (scene: Scene) => Command = () => ({}),
): DifferentialCase {
  return {
    id,
    about,
    play: (scene) => {
      scene.config({ user: { token: scene.token('jane') }, cluster: cluster(scene) })
      return [command(scene)]
    },
  }
}
