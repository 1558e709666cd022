import { StatusError } from '../server/status.ts'

/** Creates the 404 error for an unknown path. */
export function pathNotFound(): StatusError {
  return new StatusError('NotFound', 'the server could not find the requested resource', {})
}

/** Creates the 405 error. */
export function methodNotAllowed(): StatusError {
  return new StatusError(
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    {},
  )
}
