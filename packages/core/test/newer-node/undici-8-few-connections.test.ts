import { describeFewConnections } from '../signed-transports/few-connections-suite.ts'

describeFewConnections('undici 8', () => import('undici-8'))
