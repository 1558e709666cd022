import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { isSystemPath } from './system-path.ts'

/** Where the administrator and packages register libraries with p11-kit. A user's own folder does not count. */
const FOLDERS = ['/etc/pkcs11/modules', '/usr/share/p11-kit/modules']
/** Where p11-kit looks for a library without an absolute path; architectures have their own folders below. */
const LIBRARY_FOLDERS = ['/usr/lib', '/usr/lib64', '/usr/local/lib']

/** Lists the PKCS#11 libraries that are registered on this system, by their path before links are resolved: updates keep it. */
export function p11KitModules(folders: readonly string[] = FOLDERS): string[] {
  const named = folders.flatMap((folder) => listFolder(folder).map((name) => join(folder, name)))
  const found = named
    .filter((file) => file.endsWith('.module') && isSystemPath(file))
    .flatMap(readModuleLine)
    .flatMap(locate)
  return [...new Set(found)]
}

function readModuleLine(file: string): string[] {
  const text = readText(file)
  const [, name] = /^[ \t]*module[ \t]*:[ \t]*(\S.*?)[ \t\r]*$/m.exec(text) ?? []
  return name === undefined ? [] : [name]
}

function locate(name: string): string[] {
  if (isAbsolute(name)) return existing(name)
  const below = LIBRARY_FOLDERS.flatMap((folder) => [
    join(folder, 'pkcs11'),
    ...listFolder(folder)
      .filter((each) => each.includes('-linux-'))
      .map((each) => join(folder, each, 'pkcs11')),
  ])
  return below.flatMap((folder) => existing(join(folder, name))).slice(0, 1)
}

function existing(path: string): string[] {
  return existsSync(path) ? [path] : []
}

function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
