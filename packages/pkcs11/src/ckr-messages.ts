/** The message and the hint for an error of Cryptoki. */
export interface CkrMessage {
  readonly code: number
  /** What happened; it follows "cannot …:" in the message. */
  readonly reason: string
  readonly hint: string
}

const REPORT = 'Report a bug, with the name and version of the library and of the device.'
const UPDATE = 'Update the library of the device; it may be older than the device.'
const AGAIN = 'Try again; if the error persists, unplug the device and plug it in again.'
const PLUG = 'Plug the device in, and check that this lists it: kubecred-pkcs11 list'
const OTHER_KEY = 'Choose another key: kubecred-pkcs11 list'
const RESTART = 'Restart the signer.'

const row = (code: number, reason: string, hint: string): CkrMessage => ({ code, reason, hint })

/** Every error of PKCS#11 up to version 3.1, by name. */
export const CKR_MESSAGES: Readonly<Record<`CKR_${string}`, CkrMessage>> = {
  CKR_OK: row(0x0, 'the library reported success', REPORT),
  CKR_CANCEL: row(0x1, 'the operation was cancelled', 'Try again and confirm the operation.'),
  CKR_HOST_MEMORY: row(0x2, 'the computer is out of memory', 'Close some programs.'),
  CKR_SLOT_ID_INVALID: row(0x3, 'the slot does not exist', PLUG),
  CKR_GENERAL_ERROR: row(
    0x5,
    'the library failed without a reason',
    'Check that the library can reach its device; its own tools and log may say more.',
  ),
  CKR_FUNCTION_FAILED: row(
    0x6,
    'the device failed without a reason',
    'Try again; a device that waits for a touch gives up after some seconds.',
  ),
  CKR_ARGUMENTS_BAD: row(0x7, 'the library rejected its arguments', REPORT),
  CKR_NO_EVENT: row(0x8, 'there was no event at a slot', AGAIN),
  CKR_NEED_TO_CREATE_THREADS: row(
    0x9,
    'the library needs to create threads, which is not allowed',
    REPORT,
  ),
  CKR_CANT_LOCK: row(0xa, 'the library cannot be used by several threads', REPORT),
  CKR_ATTRIBUTE_READ_ONLY: row(0x10, 'the attribute is read-only', REPORT),
  CKR_ATTRIBUTE_SENSITIVE: row(0x11, 'the device does not reveal the attribute', REPORT),
  CKR_ATTRIBUTE_TYPE_INVALID: row(0x12, 'the object has no such attribute', REPORT),
  CKR_ATTRIBUTE_VALUE_INVALID: row(0x13, 'the attribute value is invalid', REPORT),
  CKR_ACTION_PROHIBITED: row(0x1b, 'the object does not allow the operation', OTHER_KEY),
  CKR_DATA_INVALID: row(0x20, 'the device cannot sign this data', OTHER_KEY),
  CKR_DATA_LEN_RANGE: row(
    0x21,
    'the length of the digest does not fit the key',
    'Use a longer key: RSA needs at least 2048 bits.',
  ),
  CKR_DEVICE_ERROR: row(0x30, 'the device reported an error', AGAIN),
  CKR_DEVICE_MEMORY: row(
    0x31,
    'the device is out of memory',
    'Close other programs that use the device, or remove objects from it.',
  ),
  CKR_DEVICE_REMOVED: row(0x32, 'the device was unplugged', 'Plug the device in and try again.'),
  CKR_ENCRYPTED_DATA_INVALID: row(0x40, 'encrypted data is invalid', REPORT),
  CKR_ENCRYPTED_DATA_LEN_RANGE: row(0x41, 'encrypted data has a wrong length', REPORT),
  CKR_AEAD_DECRYPT_FAILED: row(0x42, 'encrypted data was modified', REPORT),
  CKR_FUNCTION_CANCELED: row(
    0x50,
    'the operation was cancelled at the device',
    'Try again and confirm it.',
  ),
  CKR_FUNCTION_NOT_PARALLEL: row(0x51, 'the function does not run in parallel', REPORT),
  CKR_FUNCTION_NOT_SUPPORTED: row(0x54, 'the library does not support the operation', UPDATE),
  CKR_KEY_HANDLE_INVALID: row(0x60, 'the key no longer exists', RESTART),
  CKR_KEY_SIZE_RANGE: row(0x62, 'the device does not support the length of the key', OTHER_KEY),
  CKR_KEY_TYPE_INCONSISTENT: row(0x63, 'the type of the key does not fit the mechanism', OTHER_KEY),
  CKR_KEY_NOT_NEEDED: row(0x64, 'a key was passed where none is needed', REPORT),
  CKR_KEY_CHANGED: row(0x65, 'the key has changed', RESTART),
  CKR_KEY_NEEDED: row(0x66, 'a key is missing', REPORT),
  CKR_KEY_INDIGESTIBLE: row(0x67, 'the device cannot digest the key', REPORT),
  CKR_KEY_FUNCTION_NOT_PERMITTED: row(
    0x68,
    'the key may not be used to sign',
    'Choose a key that allows signing (CKA_SIGN): kubecred-pkcs11 list',
  ),
  CKR_KEY_NOT_WRAPPABLE: row(0x69, 'the key cannot be wrapped', REPORT),
  CKR_KEY_UNEXTRACTABLE: row(0x6a, 'the key cannot leave the device', REPORT),
  CKR_MECHANISM_INVALID: row(
    0x70,
    'the device does not support the signature algorithm with this key',
    'Use an elliptic-curve key, or a device that supports RSA-PSS: TLS 1.3 requires it.',
  ),
  CKR_MECHANISM_PARAM_INVALID: row(
    0x71,
    'the device does not support the parameters of the signature',
    'Use an elliptic-curve key, or a device that supports RSA-PSS with this hash.',
  ),
  CKR_OBJECT_HANDLE_INVALID: row(0x82, 'the object no longer exists', RESTART),
  CKR_OPERATION_ACTIVE: row(0x90, 'the device is busy with another operation', AGAIN),
  CKR_OPERATION_NOT_INITIALIZED: row(0x91, 'the operation was not started', AGAIN),
  CKR_PIN_INCORRECT: row(
    0xa0,
    'the PIN is wrong',
    'Check the PIN before you try again: the token locks after a few wrong PINs.',
  ),
  CKR_PIN_INVALID: row(0xa1, 'the PIN contains an invalid character', 'Check the PIN.'),
  CKR_PIN_LEN_RANGE: row(0xa2, 'the PIN is too short or too long for the token', 'Check the PIN.'),
  CKR_PIN_EXPIRED: row(
    0xa3,
    'the PIN has expired',
    "Set a new PIN with the device's own tool, or: pkcs11-tool --login --change-pin",
  ),
  CKR_PIN_LOCKED: row(
    0xa4,
    'the token is locked after too many wrong PINs',
    "Unlock the token with its PUK or security officer PIN, using the device's own tool.",
  ),
  CKR_SESSION_CLOSED: row(0xb0, 'the session was closed', AGAIN),
  CKR_SESSION_COUNT: row(0xb1, 'too many programs use the token', 'Close other programs.'),
  CKR_SESSION_HANDLE_INVALID: row(0xb3, 'the session no longer exists', AGAIN),
  CKR_SESSION_PARALLEL_NOT_SUPPORTED: row(
    0xb4,
    'the library does not support parallel sessions',
    REPORT,
  ),
  CKR_SESSION_READ_ONLY: row(0xb5, 'the session is read-only', REPORT),
  CKR_SESSION_EXISTS: row(0xb6, 'a session is open already', RESTART),
  CKR_SESSION_READ_ONLY_EXISTS: row(0xb7, 'a read-only session is open', RESTART),
  CKR_SESSION_READ_WRITE_SO_EXISTS: row(
    0xb8,
    'the security officer is logged in',
    'Log the security officer out: close the program that administers the token.',
  ),
  CKR_SIGNATURE_INVALID: row(0xc0, 'the signature is invalid', REPORT),
  CKR_SIGNATURE_LEN_RANGE: row(0xc1, 'the signature has a wrong length', REPORT),
  CKR_TEMPLATE_INCOMPLETE: row(0xd0, 'a required attribute is missing', REPORT),
  CKR_TEMPLATE_INCONSISTENT: row(0xd1, 'attributes contradict each other', REPORT),
  CKR_TOKEN_NOT_PRESENT: row(0xe0, 'there is no token in the slot', PLUG),
  CKR_TOKEN_NOT_RECOGNIZED: row(
    0xe1,
    'the library does not recognize the token',
    'Check that the token is initialised, and that the library supports it.',
  ),
  CKR_TOKEN_WRITE_PROTECTED: row(0xe2, 'the token is write-protected', REPORT),
  CKR_UNWRAPPING_KEY_HANDLE_INVALID: row(0xf0, 'the unwrapping key does not exist', REPORT),
  CKR_UNWRAPPING_KEY_SIZE_RANGE: row(0xf1, 'the unwrapping key has a wrong length', REPORT),
  CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT: row(0xf2, 'the unwrapping key has a wrong type', REPORT),
  CKR_USER_ALREADY_LOGGED_IN: row(0x100, 'a user is logged in already', RESTART),
  CKR_USER_NOT_LOGGED_IN: row(
    0x101,
    'no user is logged in to the token',
    'Enter the PIN again; the token may have been unplugged meanwhile.',
  ),
  CKR_USER_PIN_NOT_INITIALIZED: row(
    0x102,
    'the token has no PIN yet',
    "Set one with the device's own tool, or: pkcs11-tool --login --login-type so --init-pin",
  ),
  CKR_USER_TYPE_INVALID: row(0x103, 'the token does not support this type of user', UPDATE),
  CKR_USER_ANOTHER_ALREADY_LOGGED_IN: row(
    0x104,
    'another user is logged in to the token',
    'Close the program that administers the token.',
  ),
  CKR_USER_TOO_MANY_TYPES: row(0x105, 'too many users are logged in', 'Close other programs.'),
  CKR_WRAPPED_KEY_INVALID: row(0x110, 'a wrapped key is invalid', REPORT),
  CKR_WRAPPED_KEY_LEN_RANGE: row(0x112, 'a wrapped key has a wrong length', REPORT),
  CKR_WRAPPING_KEY_HANDLE_INVALID: row(0x113, 'the wrapping key does not exist', REPORT),
  CKR_WRAPPING_KEY_SIZE_RANGE: row(0x114, 'the wrapping key has a wrong length', REPORT),
  CKR_WRAPPING_KEY_TYPE_INCONSISTENT: row(0x115, 'the wrapping key has a wrong type', REPORT),
  CKR_RANDOM_SEED_NOT_SUPPORTED: row(
    0x120,
    'the random number generator does not accept a seed',
    REPORT,
  ),
  CKR_RANDOM_NO_RNG: row(0x121, 'the device has no random number generator', OTHER_KEY),
  CKR_DOMAIN_PARAMS_INVALID: row(0x130, 'the device does not support the curve', OTHER_KEY),
  CKR_CURVE_NOT_SUPPORTED: row(0x140, 'the device does not support the curve', OTHER_KEY),
  CKR_BUFFER_TOO_SMALL: row(0x150, 'the output is longer than expected', REPORT),
  CKR_SAVED_STATE_INVALID: row(0x160, 'the saved state is invalid', REPORT),
  CKR_INFORMATION_SENSITIVE: row(0x170, 'the device does not reveal the information', REPORT),
  CKR_STATE_UNSAVEABLE: row(0x180, 'the state cannot be saved', REPORT),
  CKR_CRYPTOKI_NOT_INITIALIZED: row(0x190, 'the library is not initialised', RESTART),
  CKR_CRYPTOKI_ALREADY_INITIALIZED: row(0x191, 'the library is initialised already', RESTART),
  CKR_MUTEX_BAD: row(0x1a0, 'a mutex of the library is invalid', RESTART),
  CKR_MUTEX_NOT_LOCKED: row(0x1a1, 'a mutex of the library was not locked', RESTART),
  CKR_NEW_PIN_MODE: row(
    0x1b0,
    'the token requires a new PIN',
    "Set one with the device's own tool.",
  ),
  CKR_NEXT_OTP: row(0x1b1, 'the token requires the next one-time password', 'Wait for it.'),
  CKR_EXCEEDED_MAX_ITERATIONS: row(0x1b5, 'the device gave up after too many iterations', AGAIN),
  CKR_FIPS_SELF_TEST_FAILED: row(0x1b6, 'the device failed its self-test', REPORT),
  CKR_LIBRARY_LOAD_FAILED: row(
    0x1b7,
    'the library could not load a dependency',
    'Install what the library depends on; ldd shows what is missing.',
  ),
  CKR_PIN_TOO_WEAK: row(0x1b8, 'the PIN is too weak', 'Choose another PIN.'),
  CKR_PUBLIC_KEY_INVALID: row(0x1b9, 'the public key is invalid', OTHER_KEY),
  CKR_FUNCTION_REJECTED: row(
    0x200,
    'the operation was rejected at the device',
    'Try again and confirm it.',
  ),
  CKR_TOKEN_RESOURCE_EXCEEDED: row(0x201, 'the device has too few resources left', AGAIN),
  CKR_OPERATION_CANCEL_FAILED: row(0x202, 'the operation could not be cancelled', RESTART),
  CKR_KEY_EXHAUSTED: row(0x203, 'the key cannot make any more signatures', OTHER_KEY),
  CKR_VENDOR_DEFINED: row(
    0x80000000,
    'the library reported a vendor-defined error',
    'Look up the number in the manual of the device.',
  ),
}
