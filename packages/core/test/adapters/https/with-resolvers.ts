/** `Promise.withResolvers`, which Node 20 does not have. */
export function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((given) => {
    resolve = given
  })
  return { promise, resolve }
}
