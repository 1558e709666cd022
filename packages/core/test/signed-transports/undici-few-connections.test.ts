import { describeFewConnections } from './few-connections-suite.ts'

describeFewConnections('undici 6', () => import('undici-6'))
describeFewConnections('undici 7', () => import('undici'))
