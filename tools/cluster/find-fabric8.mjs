// Finds the Java client fabric8; downloads it from Maven Central into the cache the first time.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withBuildLock } from './build-lock.mjs'
import { cacheFolder } from './folders.mjs'
import { FABRIC8 } from './programs.mjs'
import { run } from './run-command.mjs'

const FOLDER = join(cacheFolder(), `fabric8-${FABRIC8}`)
/** Marks that all jars are complete. */
const MARK = join(FOLDER, '.whole')

/** Returns why its tests cannot run on this machine; undefined if they can. */
export function whyNoFabric8() {
  if (!works('javac', '-version')) return 'needs a JDK, 17 or newer'
  if (existsSync(MARK) || works('mvn', '--version')) return undefined
  return 'needs Maven, to bring fabric8'
}

/** Returns the class path of the client. @param {(line: string) => void} report Reports progress. */
export function findFabric8(report) {
  const jars = join(FOLDER, '*')
  const onWait = (holder) => report(`waiting for process ${holder}, which downloads fabric8`)
  if (existsSync(MARK)) return jars
  return withBuildLock(join(cacheFolder(), 'fabric8.lock'), { onWait }, async () => {
    if (existsSync(MARK)) return jars
    report(`downloading fabric8 ${FABRIC8} from Maven Central: about a minute, 25 MB, once`)
    rmSync(FOLDER, { recursive: true, force: true })
    mkdirSync(FOLDER, { recursive: true })
    const project = join(FOLDER, 'pom.xml')
    writeFileSync(project, PROJECT)
    const copy = ['dependency:copy-dependencies', '-DincludeScope=runtime']
    await run('mvn', ['-q', '-B', '-f', project, ...copy, `-DoutputDirectory=${FOLDER}`])
    writeFileSync(MARK, '')
    return jars
  })
}

const PROJECT = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kubecred</groupId>
  <artifactId>fabric8</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.fabric8</groupId>
      <artifactId>kubernetes-client</artifactId>
      <version>${FABRIC8}</version>
    </dependency>
  </dependencies>
</project>
`

function works(command, ...args) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}
