/** The only version there is. */
export const SIGNER_API_VERSION = 'external-signer.authentication.k8s.io/v1alpha1'

/** Where a signer finds the request it was started for: the variable of the reference implementation. */
export const SIGNER_REQUEST_VARIABLE = 'EXTERNAL_SIGNER_PLUGIN_CONFIG'

/**
 * Ours: the descriptor from which a signer may read further requests, one JSON object per line.
 *
 * A signer that ignores it and exits after its answer is as welcome.
 */
export const SIGNER_FD_VARIABLE = 'KUBECRED_SIGNER_FD'

/**
 * Ours: base64 of the message whose digest is to be signed, for signers that can only hash by themselves.
 *
 * The seed's request has no place for it. Further requests carry it as `message`.
 */
export const SIGNER_MESSAGE_VARIABLE = 'KUBECRED_SIGNER_MESSAGE'

/** The words of the specification, and those of the only plugin that was ever published (2020). */
export const SIGNER_KINDS = {
  specification: {
    certificateRequest: 'CertificateRequest',
    certificateResponse: 'CertificateResponse',
    signRequest: 'SignRequest',
    signResponse: 'SignResponse',
  },
  reference2020: {
    certificateRequest: 'Certificate',
    certificateResponse: 'ExternalPublicKey',
    signRequest: 'Sign',
    signResponse: 'ExternalSigner',
  },
} as const

/**
 * Ours: a line before the answer that tells the person what to do, such as to touch the device.
 *
 * `{"apiVersion":…,"kind":"UserPrompt","prompt":"Touch the device"}`
 */
export const USER_PROMPT_KIND = 'UserPrompt'
/**
 * Ours: an answer that says why there is none, from a signer that stays. One that ends says it on standard error.
 *
 * `{"apiVersion":…,"kind":"SignerError","message":"the device is locked"}`
 */
export const SIGNER_ERROR_KIND = 'SignerError'
