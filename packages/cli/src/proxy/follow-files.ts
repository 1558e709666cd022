import { nodeFiles } from 'kubecred/internal'

/**
 * Applies the content of files again whenever one of them changes. If that fails, what was applied last stays in use.
 *
 * The files are read once at the start, because they may have changed since they were first read.
 *
 * @param what The name of the old content, such as `certificate`, for the message.
 * @param onProblem Called with a message if the changed content cannot be used.
 * @returns A function that stops watching.
 */
export function followFiles(
  paths: readonly string[],
  what: string,
  apply: () => void,
  onProblem: (message: string) => void,
): () => void {
  const reload = (): void => {
    try {
      apply()
    } catch (error) {
      onProblem(`the old ${what} stays in use: ${(error as Error).message}`)
    }
  }
  const stops = paths.map((path) => nodeFiles.watch(path, reload))
  reload()
  return () => {
    for (const stop of stops) stop()
  }
}
