import type { Command } from './command.ts'

/** All commands in the order of the help. Each is loaded when it is used: start-up matters. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'fetch',
    summary: 'Send one authenticated request and print the answer',
    operands: 'PATH',
    arity: [1, 1],
    flags: ['request', 'data', 'header', 'include', 'raw'],
    connects: true,
    about: [
      'The answer goes to standard output as it arrives, so a watch can be piped. On a terminal, JSON is laid out for reading; --raw leaves it as it came.',
      'A body that is JSON is sent as application/json, with -X PATCH as a merge patch (an object) or a JSON patch (a list). -H Content-Type says otherwise.',
      'The exit status is 1 when the server answers 400 or more; the body is printed all the same.',
    ],
    examples: [
      'kubecred fetch /version',
      "kubecred fetch '/api/v1/namespaces/default/pods?watch=true' | jq .type",
      'kubecred fetch /api/v1/namespaces -d @namespace.json',
      `kubecred fetch /api/v1/namespaces/dev -X PATCH -d '{"metadata":{"labels":{"a":"b"}}}'`,
    ],
    load: async () => (await import('./commands/fetch.ts')).fetch,
  },
  {
    name: 'whoami',
    summary: 'Say who the server thinks we are, and through which source',
    operands: '',
    arity: [0, 0],
    flags: ['output'],
    connects: true,
    about: ['Asks the server with a SelfSubjectReview, which needs Kubernetes 1.28 or newer.'],
    examples: ['kubecred whoami', 'kubecred whoami --context prod -o json | jq -r .username'],
    load: async () => (await import('./commands/whoami.ts')).whoami,
  },
  {
    name: 'token',
    summary: 'Print the credential of a context as an ExecCredential',
    operands: '',
    arity: [0, 0],
    flags: ['api-version', 'output'],
    connects: true,
    about: [
      'The output is a secret: whoever has it can act in your name until it expires.',
      'It refuses to run as a credential plugin itself, because that would go round the plugin policy.',
    ],
    examples: ['kubecred token | jq -r .status.token'],
    load: async () => (await import('./commands/token.ts')).token,
  },
  {
    name: 'explain',
    summary: 'Say what an error code or exit status means',
    operands: '[CODE]',
    arity: [0, 1],
    flags: ['output'],
    connects: false,
    about: [
      'CODE may be a code, with or without ERR_, or an exit status. Without it, all are listed.',
    ],
    examples: ['kubecred explain ERR_PLUGIN_EXITED', 'kubecred explain 33'],
    load: async () => (await import('./commands/explain.ts')).explain,
  },
  {
    name: 'version',
    summary: 'Print the version of the program',
    operands: '',
    arity: [0, 0],
    flags: ['output'],
    connects: false,
    about: [],
    examples: ['kubecred version -o json'],
    load: async () => (await import('./commands/version.ts')).version,
  },
  {
    name: 'help',
    summary: 'Show help for the program or a command',
    operands: '[COMMAND]',
    arity: [0, 1],
    flags: [],
    connects: false,
    about: [],
    examples: ['kubecred help fetch'],
    load: async () => {
      throw new Error('help is shown before any command is loaded')
    },
  },
]
