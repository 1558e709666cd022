import { StatusError } from '../server/status.ts'

/** Says that there is nothing at this address. */
export function pathNotFound(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource', {})
}

/** Says that there is something, but that this cannot be done with it. */
export function methodNotAllowed(): StatusError {
  return new StatusError(
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  )
}
