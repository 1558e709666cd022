import type { HttpsOptionsLike, KubeConfigLike, RequestContextLike } from './kube-config-like.ts'

/** What to do in place of client-node; each says whether it did it. */
export interface Overrides {
  applySecurityAuthentication(context: RequestContextLike): Promise<boolean>
  applyToHTTPSOptions(options: HttpsOptionsLike): Promise<boolean>
}

/** Replaces the two methods of one KubeConfig through which every request passes. Returns how to undo it. */
export function overrideMethods(kc: KubeConfigLike, overrides: Overrides): () => void {
  const undos = [
    override(kc, 'applySecurityAuthentication', overrides),
    override(kc, 'applyToHTTPSOptions', overrides),
  ]
  return () => {
    for (const undo of undos) undo()
  }
}

type Name = keyof Overrides
type Method = (argument: RequestContextLike & HttpsOptionsLike) => Promise<unknown>

function override(kc: KubeConfigLike, name: Name, overrides: Overrides): () => void {
  const before = Object.getOwnPropertyDescriptor(kc, name)
  const original = kc[name] as Method
  const ours = overrides[name] as Method
  let isUndone = false
  const method: Method = async (argument) => {
    if (isUndone || !(await ours(argument))) await original.call(kc, argument)
  }
  Object.defineProperty(kc, name, { value: method, configurable: true, writable: true })
  return () => {
    isUndone = true
    // Somebody may have put something of theirs over ours, which still calls it.
    if ((kc[name] as Method) !== method) return
    if (before === undefined) delete (kc as Partial<KubeConfigLike>)[name]
    else Object.defineProperty(kc, name, before)
  }
}
