import { facts } from './code-facts.ts'

/** Codes 10 to 29: the kubeconfig and the files it names. */
export const KUBECONFIG_CODES = {
  ERR_KUBECONFIG_NOT_FOUND: facts(
    10,
    'kubeconfig',
    'final',
    'A kubeconfig file that was named explicitly does not exist.',
    'Check the path given with --kubeconfig, or leave it out to use KUBECONFIG or ~/.kube/config.',
  ),
  ERR_KUBECONFIG_UNREADABLE: facts(
    11,
    'kubeconfig',
    'final',
    'A kubeconfig file exists but cannot be read.',
    'Check that it is a regular file and that your user may read it.',
  ),
  ERR_KUBECONFIG_SYNTAX: facts(
    12,
    'kubeconfig',
    'final',
    'A kubeconfig file is not YAML, or not of the shape a kubeconfig has.',
    'Correct the line or field that the message names.',
  ),
  ERR_KUBECONFIG_INVALID: facts(
    13,
    'kubeconfig',
    'final',
    'The selected cluster or user entry is incomplete or contradicts itself.',
    'Correct the entry that the message names.',
  ),
  ERR_KUBECONFIG_EMPTY: facts(
    14,
    'kubeconfig',
    'final',
    'There is no configuration at all: no kubeconfig with a cluster, and no service account.',
    'Set KUBECONFIG, pass --kubeconfig, or pass --server.',
  ),
  ERR_CONTEXT_NOT_FOUND: facts(
    15,
    'kubeconfig',
    'final',
    'The context asked for is in none of the kubeconfig files.',
    'Use one of the contexts that the message lists.',
  ),
  ERR_CLUSTER_NOT_FOUND: facts(
    16,
    'kubeconfig',
    'final',
    'The cluster asked for, or named by the context, is in none of the kubeconfig files.',
    'Correct the name in the context or on the command line.',
  ),
  ERR_USER_NOT_FOUND: facts(
    17,
    'kubeconfig',
    'final',
    'The user asked for, or named by the context, is in none of the kubeconfig files.',
    'Correct the name in the context or on the command line.',
  ),
  ERR_AUTH_PROVIDER_REMOVED: facts(
    18,
    'kubeconfig',
    'final',
    'The user entry uses an auth-provider that Kubernetes has removed.',
    'Replace it by the exec stanza that the message shows.',
  ),
  ERR_NOT_SUPPORTED: facts(
    19,
    'kubeconfig',
    'final',
    'The entry asks for something this version does not do; ignoring it would be unsafe.',
    'See docs/compatibility.md for what is supported.',
  ),
  ERR_FILE_UNREADABLE: facts(
    20,
    'kubeconfig',
    'retryable',
    'A token, certificate, key or CA file named by the kubeconfig cannot be read or is empty.',
    'Check the path and its permissions.',
  ),
  ERR_CERTIFICATE_INVALID: facts(
    21,
    'kubeconfig',
    'final',
    'A client certificate, its key or a CA in the kubeconfig cannot be used.',
    'Replace the certificate and key by a matching, valid pair in PEM.',
  ),
} as const
