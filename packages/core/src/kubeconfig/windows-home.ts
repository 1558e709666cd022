/** What is known about a folder that could be the home. */
export interface FolderFacts {
  readonly exists: boolean
  readonly writable: boolean
  /** Whether `.kube\config` is in it. */
  readonly hasKubeconfig: boolean
}

/**
 * Finds the home folder on Windows by client-go's rule, so that both find the same kubeconfig.
 *
 * The first that has a kubeconfig wins, in the order HOME, HOMEDRIVE with HOMEPATH, USERPROFILE. If none has,
 * USERPROFILE comes second, and the first writable folder wins, else the first that exists, else the first set.
 */
export function windowsHome(
  env: Readonly<Record<string, string | undefined>>,
  look: (folder: string) => FolderFacts,
): string | undefined {
  const home = env['HOME']
  const profile = env['USERPROFILE']
  const { HOMEDRIVE: drive, HOMEPATH: path } = env
  const driveAndPath = drive && path ? `${drive}${path}` : undefined
  const facts = new Map(
    present(home, profile, driveAndPath).map((folder) => [folder, look(folder)] as const),
  )
  const ordered = present(home, profile, driveAndPath)
  return (
    present(home, driveAndPath, profile).find((folder) => facts.get(folder)?.hasKubeconfig) ??
    ordered.find((folder) => facts.get(folder)?.writable) ??
    ordered.find((folder) => facts.get(folder)?.exists) ??
    ordered[0]
  )
}

function present(...folders: (string | undefined)[]): string[] {
  return folders.filter((folder) => folder !== undefined && folder !== '') as string[]
}
