import type { SignerConfig } from '../../kubeconfig/external-signer-config.ts'
import type { ExecConfig } from '../../protocol/exec-config.ts'

type Program = Pick<ExecConfig, 'command' | 'installHint'>

/** The program of a signer, as something to look for; undefined when it is one that runs by itself. */
export function signerProgram(signer: SignerConfig | undefined): Program | undefined {
  if (signer?.at.kind !== 'program') return undefined
  const { command } = signer.at
  return { command, installHint: installHintFor(command) }
}

/** A kubeconfig that was made elsewhere names programs that are not here. */
function installHintFor(command: string): string {
  const name = command.split(/[\\/]/).at(-1)
  const how = name === 'kubecred-pkcs11' ? ' (npm install --global @kubecred/pkcs11)' : ''
  return `Install the signer${how}, or write its full path in pathExec of the user entry.`
}
