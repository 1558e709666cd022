import { builtKubectl } from './find-kubectl.ts'
import { kubectlSuite } from './kubectl-suite.ts'

kubectlSuite('the newest kubectl (needs: npm run test:cluster, once)', builtKubectl())
