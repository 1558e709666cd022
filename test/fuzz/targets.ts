import type { FuzzTarget } from './fuzz-target.ts'
import { agentFrames } from './targets/agent-frames.ts'
import { certificates } from './targets/certificates.ts'
import { kubeconfig } from './targets/kubeconfig.ts'
import { kubectl } from './targets/kubectl.ts'
import { kuberc } from './targets/kuberc.ts'
import { oidcAnswers } from './targets/oidc-answers.ts'
import { pluginAnswer } from './targets/plugin-answer.ts'
import { proxyRequests } from './targets/proxy-requests.ts'
import { signerAnswer } from './targets/signer-answer.ts'
import { tlsFlights } from './targets/tls-flights.ts'
import { tlsHandshakes } from './targets/tls-handshakes.ts'

/** Everything that `npm run fuzz` runs. */
export const TARGETS: readonly FuzzTarget[] = [
  kubeconfig,
  kubectl,
  pluginAnswer,
  signerAnswer,
  agentFrames,
  proxyRequests,
  tlsFlights,
  tlsHandshakes,
  kuberc,
  oidcAnswers,
  certificates,
]
