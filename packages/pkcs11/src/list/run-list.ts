import { allowLibrary, namedModules } from '../allow-library.ts'
import { CKU_USER } from '../cryptoki.ts'
import { explained } from '../explain-failure.ts'
import { loadLibrary } from '../load-library.ts'
import { type Access, obtainPin } from '../obtain-pin.ts'
import { p11KitModules } from '../p11-kit-modules.ts'
import { PIN_VARIABLE } from '../pin-wish.ts'
import { describeToken } from '../tokens.ts'
import { listInChild } from './list-in-child.ts'
import type { ListedLibrary } from './listed.ts'
import { renderList } from './render-list.ts'
import { type Surveying, surveyLibrary } from './survey.ts'

export interface ListOptions {
  /** Only this one, and then a problem with it is an error. */
  readonly library: string | undefined
  readonly isJson: boolean
  /** Asks for PINs, to see private objects too. */
  readonly logsIn: boolean
  readonly access: Access
  readonly program: string
  readonly now: number
}

/** Looks at all libraries that may be loaded, and says what they show and how to use it. */
export async function runList(options: ListOptions): Promise<string> {
  const { library, isJson, now } = options
  const libraries =
    library === undefined ? await listAll(options) : [await listOne(library, options)]
  return isJson ? `${JSON.stringify({ libraries }, undefined, 2)}\n` : renderList(libraries, now)
}

/** Each in a process of its own: some print, some hang, and one that crashes must not take the list with it. */
async function listAll({ logsIn, access }: ListOptions): Promise<ListedLibrary[]> {
  const { environment } = access
  const listed: ListedLibrary[] = []
  // One after another, since each may ask for a PIN.
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
    return await surveyLibrary(library, cryptoki, { logIn, now, program })
  } finally {
    cryptoki.C_Finalize()
  }
}

function makeLogIn(access: Access): Surveying['logIn'] {
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
