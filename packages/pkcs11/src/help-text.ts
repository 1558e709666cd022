/** What `--help` prints. docs/pkcs11.md shows it too. */
export const HELP = `kubecred-pkcs11: an external signer for keys in PKCS#11 tokens

A Kubernetes client starts it for every certificate and signature; by hand it
shows what there is:

  kubecred-pkcs11 list [--lib PATH] [--login] [-o json]
      tokens, keys and certificates, and the user entry to paste into a kubeconfig
  kubecred-pkcs11 serve --socket PATH --lib PATH [FLAGS]
      asks for the PIN once, then signs for all clients of a unix socket (pathSocket)

Flags of list:
  --lib PATH          look only at this library; without it, at those p11-kit knows
  --login             ask for the PIN of each token, to see private objects too
  -o, --output json   for programs

Flags of serve, named as in the config map of a kubeconfig:
  --socket PATH       the unix socket, in a folder that is closed to others
  --lib PATH          the PKCS#11 library (pathLib)
  --token-label TEXT, --token-serial TEXT, --slot-id N
                      the token, where there are several
  --object-id-hex HEX, --object-id N, --object-label TEXT
                      the key, where there are several
  --uri URI           all of that as a pkcs11: URI (RFC 7512)
  --pin-file PATH, --pin-env NAME
                      where the PIN is, if nobody is to be asked

Environment:
  KUBECRED_PKCS11_PIN       the PIN, where nobody can be asked
  KUBECRED_PKCS11_MODULES   further libraries that may be loaded, with : between them

Exit status: 0 done, 1 failed, 2 wrong usage or no request.
`

/** What is said to a person who starts the signer without anything to do. */
export const BY_HAND = `This is a signer; a Kubernetes client starts it.
To see your tokens and the user entry for your kubeconfig: kubecred-pkcs11 list
For more: kubecred-pkcs11 --help
`
