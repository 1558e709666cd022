import { allowLibrary, namedModules } from '../allow-library.ts'
import { CKU_USER } from '../cryptoki.ts'
import { explained } from '../explain-failure.ts'
import { loadLibrary } from '../load-library.ts'
import { type Access, obtainPin } from '../obtain-pin.ts'
import { p11KitModules } from '../p11-kit-modules.ts'
import { PIN_VARIABLE } from '../pin-settings.ts'
import { describeToken } from '../tokens.ts'
import { type InspectOptions, inspectLibrary } from './inspect-library.ts'
import { listInChild } from './list-in-child.ts'
import type { ListedLibrary } from './listed-library.ts'
import { renderList } from './render-list.ts'

/** What `list` was asked to do. */
export interface ListOptions {
  /** Lists only this library; a problem with it is then an error. */
  readonly library: string | undefined
  readonly isJson: boolean
  /** Asks for the PIN of each token, to list private objects too. */
  readonly logsIn: boolean
  readonly access: Access
  readonly program: string
  readonly now: number
}

/**
 * Lists the tokens of one library or of all that may be loaded, and returns the output of `list`.
 *
 * @throws {TokenError} The one library cannot be used.
 */
export async function runList(options: ListOptions): Promise<string> {
  const { library, isJson, now } = options
  const libraries =
    library === undefined ? await listAll(options) : [await listOne(library, options)]
  return isJson ? `${JSON.stringify({ libraries }, undefined, 2)}\n` : renderList(libraries, now)
}

/** Runs each library in its own process: libraries print, hang or crash, and the others must be listed anyway. */
async function listAll({ logsIn, access }: ListOptions): Promise<ListedLibrary[]> {
  const { environment } = access
  const listed: ListedLibrary[] = []
  // Sequentially, since each may ask for a PIN.
  for (const path of new Set([...p11KitModules(), ...namedModules(environment)])) {
    listed.push(await listInChild(path, { logsIn, environment }))
  }
  return listed
}

async function listOne(
  library: string,
  { logsIn, access, program, now }: ListOptions,
): Promise<ListedLibrary> {
  const cryptoki = await loadLibrary(allowLibrary(library, access.environment))
  try {
    const logIn = logsIn ? makeLogIn(access) : undefined
    return await inspectLibrary(library, cryptoki, { logIn, now, program })
  } finally {
    cryptoki.C_Finalize()
  }
}

function makeLogIn(access: Access): InspectOptions['logIn'] {
  return async ({ cryptoki, handle }, token) => {
    const pin = await obtainPin(token, { env: PIN_VARIABLE }, access, false)
    try {
      explained(`log in to token ${describeToken(token)}`, () =>
        cryptoki.C_Login(handle, CKU_USER, pin.expose()),
      )
    } finally {
      pin.wipe()
    }
  }
}
