/** What `--help` prints. docs/pkcs11.md shows it too. */
export const HELP = `kubecred-pkcs11: an external signer for keys in PKCS#11 tokens

A Kubernetes client starts it to get a certificate or a signature. Run it
yourself to see what is available:

  kubecred-pkcs11 list [--lib PATH] [--login] [-o json]
      list tokens, keys and certificates, with a user entry for a kubeconfig
  kubecred-pkcs11 serve --socket PATH --lib PATH [FLAGS]
      ask for the PIN once, then sign for all clients of a unix socket (pathSocket)

Flags of list:
  --lib PATH          list only this library; by default all that p11-kit knows
  --login             ask for the PIN of each token, to list private objects too
  -o, --output json   print JSON

Flags of serve, named as in the config map of a kubeconfig:
  --socket PATH       the unix socket, in a folder that only you can access
  --lib PATH          the PKCS#11 library (pathLib)
  --token-label TEXT, --token-serial TEXT, --slot-id N
                      the token, if there are several
  --object-id-hex HEX, --object-id N, --object-label TEXT
                      the key, if there are several
  --uri URI           all of these as a pkcs11: URI (RFC 7512)
  --pin-file PATH, --pin-env NAME
                      where to read the PIN, instead of asking for it

Environment:
  KUBECRED_PKCS11_PIN       the PIN, if there is no terminal to ask for it
  KUBECRED_PKCS11_MODULES   more libraries that may be loaded, separated by :

Exit status: 0 success, 1 failure, 2 wrong usage or no request.
`

/** What the program prints when it is started without a command and without a request. */
export const NO_REQUEST_TEXT = `This is a signer; a Kubernetes client starts it.
To list your tokens and the user entries for a kubeconfig: kubecred-pkcs11 list
For help: kubecred-pkcs11 --help
`
