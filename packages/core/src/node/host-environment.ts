import process from 'node:process'

export type Environment = Readonly<Record<string, string | undefined>>

/** The environment of this process, read when asked: programs change it while they run. */
export function hostEnvironment(): Environment {
  return process.env
}
