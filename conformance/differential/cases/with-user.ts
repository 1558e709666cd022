import type { DifferentialCase } from '../command.ts'
import type { Scene } from '../scene.ts'

/** A server with basic authentication. */
export const BASIC = { basic: { max: 'pw' } }

type Play = DifferentialCase['play']

/** Writes a certificate and its key into files of the scene. */
export async function pair(
  scene: Scene,
  name: string,
): Promise<{ certificate: string; key: string }> {
  const issued = await scene.certificate(name)
  return {
    certificate: scene.write(`${name}.crt`, issued.certificate),
    key: scene.write(`${name}.key`, issued.key),
  }
}

/** A case with one user entry and one command. */
export const withUser =
  (user: (scene: Scene) => object | Promise<object>): Play =>
  async (scene) => {
    scene.config({ user: await user(scene) })
    return [{}]
  }
