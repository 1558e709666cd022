// The `prepack` script of each package: npm adds a LICENSE to the tarball only if the package's own folder has one.
import { copyFileSync } from 'node:fs'

copyFileSync(new URL('../LICENSE', import.meta.url), 'LICENSE')
