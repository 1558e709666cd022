/**
 * Replaces a method of an object. Returns a function that restores it.
 *
 * @param replace Makes the new method from the original, which is bound to the object.
 */
export function overrideMethod<T extends object, N extends keyof T>(
  object: T,
  name: N,
  replace: (original: T[N] & Method) => T[N] & Method,
): () => void {
  const before = Object.getOwnPropertyDescriptor(object, name)
  const original = (object[name] as Method).bind(object) as T[N] & Method
  const ours = replace(original)
  let isUndone = false
  const method = (...args: never[]): unknown => (isUndone ? original : ours)(...args)
  Object.defineProperty(object, name, { value: method, configurable: true, writable: true })
  return () => {
    isUndone = true
    // Another program may have replaced the method again, and call ours from there.
    if ((object[name] as unknown) !== method) return
    if (before === undefined) delete object[name]
    else Object.defineProperty(object, name, before)
  }
}

type Method = (...args: never[]) => unknown
