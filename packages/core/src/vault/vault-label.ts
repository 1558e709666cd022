import { LOAD, type SourceLabel, type VaultLoad } from '../ports/observer.ts'

/** The label of a vault. How busy it is can be asked by those who know how; nobody prints it. */
export function vaultLabel(load: () => VaultLoad): SourceLabel {
  const label: SourceLabel = { kind: 'vault', name: 'login handlers' }
  return Object.defineProperty(label, LOAD, { value: load })
}
