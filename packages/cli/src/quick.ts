// The same program, bundled with only the commands that people wait for, because a smaller file is loaded sooner.

export { main } from './main.ts'
