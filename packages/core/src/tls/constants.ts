/** Content types of records (RFC 8446, section 5.1). */
export const RECORD = {
  changeCipherSpec: 20,
  alert: 21,
  handshake: 22,
  applicationData: 23,
} as const

/** Types of handshake messages (section 4). */
export const MESSAGE = {
  clientHello: 1,
  serverHello: 2,
  encryptedExtensions: 8,
  certificate: 11,
  certificateRequest: 13,
  certificateVerify: 15,
  finished: 20,
  messageHash: 254,
} as const

/** The extensions that are read (section 4.2). */
export const EXTENSION = {
  signatureAlgorithms: 13,
  preSharedKey: 41,
  supportedVersions: 43,
} as const

/** The alerts that are sent (section 6). */
export const ALERT = {
  closeNotify: 0,
  unexpectedMessage: 10,
  recordOverflow: 22,
  handshakeFailure: 40,
  certificateUnknown: 46,
  illegalParameter: 47,
  decodeError: 50,
  decryptError: 51,
  internalError: 80,
  userCanceled: 90,
  missingExtension: 109,
} as const

export type Alert = (typeof ALERT)[keyof typeof ALERT]

export const TLS_1_3 = 0x0304
