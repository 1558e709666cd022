/** An opaque handle of the library: a slot, a session or an object. */
export type Handle = Buffer

/**
 * The interface of a loaded library (PKCS#11 calls it Cryptoki): the part of pkcs11js's `PKCS11` class that is used here.
 *
 * It is declared here because pkcs11js, with its types, is missing where its native part could not be compiled, and
 * neither the build nor the type check may depend on it.
 */
export interface Cryptoki {
  load(path: string): void
  C_Initialize(options?: { readonly flags: number }): void
  C_Finalize(): void
  C_GetInfo(): { readonly libraryDescription: string; readonly manufacturerID: string }
  C_GetSlotList(tokenPresent?: boolean): Handle[]
  C_GetTokenInfo(slot: Handle): TokenInfo
  C_GetMechanismList(slot: Handle): number[]
  C_OpenSession(slot: Handle, flags: number): Handle
  C_CloseSession(session: Handle): void
  C_Login(session: Handle, userType: number, pin?: string): void
  C_FindObjectsInit(session: Handle, template: readonly Attribute[]): void
  C_FindObjects(session: Handle, maxObjectCount: number): Handle[]
  C_FindObjectsFinal(session: Handle): void
  C_GetAttributeValue(
    session: Handle,
    object: Handle,
    template: readonly Attribute[],
  ): { readonly type: number; readonly value: Buffer }[]
  C_SignInit(session: Handle, mechanism: Mechanism, key: Handle): void
  C_SignAsync(session: Handle, data: Buffer, output: Buffer): Promise<Buffer>
}

/** A signing mechanism, with its parameters for RSA-PSS. */
export interface Mechanism {
  readonly mechanism: number
  readonly parameter?: {
    readonly type: number
    readonly hashAlg: number
    readonly mgf: number
    readonly saltLen: number
  }
}

interface Attribute {
  readonly type: number
  readonly value?: number | boolean | string | Buffer
}

/** What a token reports about itself. The strings are padded, see {@link trimPadding}. */
interface TokenInfo {
  readonly label: string
  readonly manufacturerID: string
  readonly model: string
  readonly serialNumber: string
  readonly flags: number
  readonly minPinLen: number
  readonly maxPinLen: number
}

// Constants of PKCS#11. They are repeated here because pkcs11js, which has most of them, may be missing.
export const CKF_SERIAL_SESSION = 0x4
export const CKF_OS_LOCKING_OK = 0x2
export const CKF_LOGIN_REQUIRED = 0x4
export const CKF_PROTECTED_AUTHENTICATION_PATH = 0x100
export const CKF_TOKEN_INITIALIZED = 0x400
export const CKF_USER_PIN_COUNT_LOW = 0x10000
export const CKF_USER_PIN_FINAL_TRY = 0x20000
export const CKF_USER_PIN_LOCKED = 0x40000

export const CKU_USER = 1
export const CKU_CONTEXT_SPECIFIC = 2

export const CKO_CERTIFICATE = 1
export const CKO_PUBLIC_KEY = 2
export const CKO_PRIVATE_KEY = 3

export const CKA_CLASS = 0x0
export const CKA_LABEL = 0x3
export const CKA_VALUE = 0x11
export const CKA_KEY_TYPE = 0x100
export const CKA_ID = 0x102
export const CKA_MODULUS = 0x120
export const CKA_PUBLIC_EXPONENT = 0x122
export const CKA_EC_PARAMS = 0x180
export const CKA_EC_POINT = 0x181
export const CKA_ALWAYS_AUTHENTICATE = 0x202

export const CKK_RSA = 0x0
export const CKK_EC = 0x3
export const CKK_EC_EDWARDS = 0x40

export const CKM_RSA_X_509 = 0x3
export const CKM_RSA_PKCS_PSS = 0xd
export const CKM_ECDSA = 0x1041
export const CKM_EDDSA = 0x1057
export const CKM_SHA256 = 0x250
export const CKM_SHA384 = 0x260
export const CKM_SHA512 = 0x270
export const CKG_MGF1_SHA256 = 2
export const CKG_MGF1_SHA384 = 3
export const CKG_MGF1_SHA512 = 4

export const CKR_ATTRIBUTE_SENSITIVE = 0x11
export const CKR_ATTRIBUTE_TYPE_INVALID = 0x12
export const CKR_ARGUMENTS_BAD = 0x7
export const CKR_CANT_LOCK = 0xa
export const CKR_DEVICE_REMOVED = 0x32
export const CKR_OBJECT_HANDLE_INVALID = 0x82
export const CKR_KEY_HANDLE_INVALID = 0x60
export const CKR_SESSION_CLOSED = 0xb0
export const CKR_SESSION_HANDLE_INVALID = 0xb3
export const CKR_TOKEN_NOT_PRESENT = 0xe0
export const CKR_TOKEN_NOT_RECOGNIZED = 0xe1
export const CKR_USER_ALREADY_LOGGED_IN = 0x100
export const CKR_USER_NOT_LOGGED_IN = 0x101
export const CKR_CRYPTOKI_ALREADY_INITIALIZED = 0x191

/** Reads a CK_ULONG, which has 4 bytes on Windows and 8 elsewhere. */
export function readUlong(bytes: Buffer): number {
  return bytes.length >= 8 ? Number(bytes.readBigUInt64LE()) : bytes.readUIntLE(0, bytes.length)
}

/** Removes the padding of a string: blanks, or zeros in some libraries. */
export function trimPadding(text: string): string {
  return text.replace(/[ \0]+$/, '')
}
