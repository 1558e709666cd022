import { debianKubectl } from './find-kubectl.ts'
import { kubectlSuite } from './kubectl-suite.ts'

kubectlSuite("Debian's kubectl (needs: node tools/debian-kubectl.mjs)", debianKubectl())
