import { basename } from 'node:path'
import process from 'node:process'

// The start of the single executable, which has both programs inside: the name that it is called by decides.
const isToken = basename(process.argv0) === 'kubecred-token'
// kubecred-token has no commands. The agent is started from the file itself, whose name may be that one.
const isAgent = process.argv[2] === 'agent'
if (isToken && !isAgent) void import('../token-program/main.ts')
else void import('../entry.ts').then(({ start }) => start())
