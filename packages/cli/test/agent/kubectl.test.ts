import { usualKubectl } from './find-kubectl.ts'
import { kubectlSuite } from './kubectl-suite.ts'

kubectlSuite('kubectl (needs: apt-get install kubernetes-client)', usualKubectl())
