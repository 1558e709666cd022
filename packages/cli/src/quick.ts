// The same program, bundled with only the commands that send one request, because a smaller file is loaded sooner.

export { main } from './main.ts'
