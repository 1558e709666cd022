import { isHeaderSafe } from '../protocol/header-safe.ts'
import { Secret } from '../secret/secret.ts'
import type { UserEntry } from './kubeconfig.ts'
import type { Overrides } from './overrides.ts'
import type { Problem } from './problem.ts'
import { isUsableServer } from './server-url.ts'
import { hasKey } from './user-methods.ts'
import { isUsableProxy } from './validate-cluster.ts'

type Found = Omit<Problem, 'isOption'> | false | '' | undefined

/**
 * Lists what is wrong with options, so that no entry of a file is blamed for it.
 *
 * @param user The user entry without them: it may have what an option needs.
 */
export function overrideProblems(overrides: Overrides, user: UserEntry): readonly Problem[] {
  return [
    ...clusterOptions(overrides),
    ...userOptions(overrides, user),
    ...impersonationOptions(overrides, user),
  ].flatMap((found) => (found ? [{ ...found, isOption: true }] : []))
}

function clusterOptions(overrides: Overrides): Found[] {
  const { server, proxyUrl, tlsServerName, certificateAuthority } = overrides
  return [
    server &&
      !isUsableServer(server) && {
        what: 'option server is no http or https address of the form https://HOST:PORT',
        remedy: 'Correct it, and keep user name and password out of the address.',
      },
    proxyUrl &&
      !isUsableProxy(new Secret(proxyUrl)) && {
        what: 'option proxyUrl is no http, https or socks5 address',
        remedy: 'Write it as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT.',
      },
    tlsServerName &&
      !/^[\w.:-]+$/.test(tlsServerName) && {
        what: 'option tlsServerName is neither a host name nor an IP address',
        remedy: "Write a name that the server's certificate has.",
      },
    overrides.insecureSkipTlsVerify === true &&
      certificateAuthority && {
        what: 'option insecureSkipTlsVerify contradicts option certificateAuthority',
        remedy:
          'Leave out option insecureSkipTlsVerify: with a certificate authority it is not needed.',
      },
  ]
}

function userOptions(overrides: Overrides, user: UserEntry): Found[] {
  const { token, username, password, clientCertificate, clientKey } = overrides
  return [
    token &&
      !isHeaderSafe(token) && {
        what: 'option token has a character that no HTTP header can carry',
        remedy: 'Remove line breaks and white space at its ends.',
      },
    token &&
      (username || password) && {
        what: `option token contradicts option ${username ? 'username' : 'password'}`,
        remedy: 'Give a token, or a user name with its password.',
      },
    username?.includes(':') && {
      what: 'option username has a colon, which ends a user name in basic authentication',
      remedy: 'Correct the user name.',
    },
    clientCertificate &&
      !clientKey &&
      !hasKey(user) && {
        what: 'option clientCertificate needs option clientKey: the user entry has no key',
        remedy: 'Give the key of the certificate too.',
      },
  ]
}

function impersonationOptions(overrides: Overrides, user: UserEntry): Found[] {
  const { as, asUid, asGroups = [], asUserExtra = {} } = overrides
  const values = {
    as: as ? [as] : [],
    asUid: asUid ? [asUid] : [],
    asGroups,
    asUserExtra: Object.values(asUserExtra).flat(),
  }
  const given = Object.entries(values).filter(([, each]) => each.length > 0)
  const isAlone = !as && user.as === undefined
  return given.flatMap(([name, each]): Found[] => [
    isAlone && {
      what: `option ${name} needs option as: there is no user to impersonate`,
      remedy: 'Say which user to impersonate too.',
    },
    each.some((value) => UNSENDABLE.test(value)) && {
      what: `option ${name} has a character that no HTTP header can carry`,
      remedy: 'Remove line breaks and control characters.',
    },
  ])
}

/** Control characters. Letters beyond ASCII are sent as UTF-8. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\uffff]/
