/** What an error of Cryptoki means, and what to do about it. */
export interface CkrWords {
  readonly code: number
  /** Continues "… because". */
  readonly means: string
  readonly remedy: string
}

const REPORT = 'Report it, with the name and version of the library and of the device.'
const UPDATE = 'Update the library of the device; it may be older than the device.'
const AGAIN = 'Try again; if it stays so, unplug the device and plug it in.'
const PLUG = 'Plug the device in, check that it is listed by: kubecred-pkcs11 list'
const OTHER_KEY = 'Choose another key: see kubecred-pkcs11 list'
const RESTART = 'Start the signer again.'

const row = (code: number, means: string, remedy: string): CkrWords => ({ code, means, remedy })

/** Every error of PKCS#11 up to 3.1, by its name. */
export const CKR_WORDS: Readonly<Record<`CKR_${string}`, CkrWords>> = {
  CKR_OK: row(0x0, 'nothing went wrong', REPORT),
  CKR_CANCEL: row(0x1, 'it was cancelled', 'Try again and confirm it.'),
  CKR_HOST_MEMORY: row(0x2, 'the computer has no memory left', 'Close some programs.'),
  CKR_SLOT_ID_INVALID: row(0x3, 'the slot does not exist', PLUG),
  CKR_GENERAL_ERROR: row(
    0x5,
    'the library failed and did not say why',
    'Check that the library can reach its device: its own tools and log may say more.',
  ),
  CKR_FUNCTION_FAILED: row(
    0x6,
    'the device could not do it and did not say why',
    'Try again; a device that waits for a touch gives up after some seconds.',
  ),
  CKR_ARGUMENTS_BAD: row(0x7, 'the library did not like what it was told', REPORT),
  CKR_NO_EVENT: row(0x8, 'nothing happened at a slot', AGAIN),
  CKR_NEED_TO_CREATE_THREADS: row(0x9, 'the library needs threads and may have none', REPORT),
  CKR_CANT_LOCK: row(0xa, 'the library cannot be used by several threads', REPORT),
  CKR_ATTRIBUTE_READ_ONLY: row(0x10, 'it would change what cannot be changed', REPORT),
  CKR_ATTRIBUTE_SENSITIVE: row(0x11, 'the device keeps that to itself', REPORT),
  CKR_ATTRIBUTE_TYPE_INVALID: row(0x12, 'the object has no such attribute', REPORT),
  CKR_ATTRIBUTE_VALUE_INVALID: row(0x13, 'an attribute cannot have that value', REPORT),
  CKR_ACTION_PROHIBITED: row(0x1b, 'the object does not allow that', OTHER_KEY),
  CKR_DATA_INVALID: row(0x20, 'the device cannot sign this', OTHER_KEY),
  CKR_DATA_LEN_RANGE: row(
    0x21,
    'the digest is too long or too short for the key',
    'Use a longer key: RSA needs at least 2048 bits.',
  ),
  CKR_DEVICE_ERROR: row(0x30, 'the device reported an error', AGAIN),
  CKR_DEVICE_MEMORY: row(
    0x31,
    'the device has no memory left',
    'Close other programs that use it, or remove objects from it.',
  ),
  CKR_DEVICE_REMOVED: row(0x32, 'the device was unplugged', 'Plug the device in and try again.'),
  CKR_ENCRYPTED_DATA_INVALID: row(0x40, 'something encrypted cannot be read', REPORT),
  CKR_ENCRYPTED_DATA_LEN_RANGE: row(0x41, 'something encrypted has a wrong length', REPORT),
  CKR_AEAD_DECRYPT_FAILED: row(0x42, 'something encrypted was changed', REPORT),
  CKR_FUNCTION_CANCELED: row(0x50, 'it was cancelled at the device', 'Try again and confirm it.'),
  CKR_FUNCTION_NOT_PARALLEL: row(0x51, 'it does not run beside others', REPORT),
  CKR_FUNCTION_NOT_SUPPORTED: row(0x54, 'the library cannot do that', UPDATE),
  CKR_KEY_HANDLE_INVALID: row(0x60, 'the key is not there any more', RESTART),
  CKR_KEY_SIZE_RANGE: row(0x62, 'the key is too long or too short for the device', OTHER_KEY),
  CKR_KEY_TYPE_INCONSISTENT: row(0x63, 'the key is of another kind than needed', OTHER_KEY),
  CKR_KEY_NOT_NEEDED: row(0x64, 'a key was given where none belongs', REPORT),
  CKR_KEY_CHANGED: row(0x65, 'the key has changed', RESTART),
  CKR_KEY_NEEDED: row(0x66, 'a key is missing', REPORT),
  CKR_KEY_INDIGESTIBLE: row(0x67, 'the key cannot be digested', REPORT),
  CKR_KEY_FUNCTION_NOT_PERMITTED: row(
    0x68,
    'the key may not be used to sign',
    'Choose a key that was made for signing (CKA_SIGN): see kubecred-pkcs11 list',
  ),
  CKR_KEY_NOT_WRAPPABLE: row(0x69, 'the key cannot be wrapped', REPORT),
  CKR_KEY_UNEXTRACTABLE: row(0x6a, 'the key cannot leave the device', REPORT),
  CKR_MECHANISM_INVALID: row(
    0x70,
    'the device cannot sign in this way with this key',
    'Use a key on an elliptic curve, or a device that knows RSA-PSS: TLS 1.3 needs it.',
  ),
  CKR_MECHANISM_PARAM_INVALID: row(
    0x71,
    'the device cannot sign with these parameters',
    'Use a key on an elliptic curve, or a device that knows RSA-PSS with this hash.',
  ),
  CKR_OBJECT_HANDLE_INVALID: row(0x82, 'the object is not there any more', RESTART),
  CKR_OPERATION_ACTIVE: row(0x90, 'the device is busy with something else', AGAIN),
  CKR_OPERATION_NOT_INITIALIZED: row(0x91, 'the operation was not begun', AGAIN),
  CKR_PIN_INCORRECT: row(
    0xa0,
    'the PIN is wrong',
    'Check the PIN before you try again: after a few wrong ones the token locks itself.',
  ),
  CKR_PIN_INVALID: row(0xa1, 'the PIN has a character that the token does not take', 'Check it.'),
  CKR_PIN_LEN_RANGE: row(0xa2, 'the PIN is too short or too long for the token', 'Check the PIN.'),
  CKR_PIN_EXPIRED: row(
    0xa3,
    'the PIN has expired',
    'Set a new PIN with the tool of the device, or: pkcs11-tool --login --change-pin',
  ),
  CKR_PIN_LOCKED: row(
    0xa4,
    'the token is locked after too many wrong PINs',
    'Unlock it with its PUK or security officer PIN, with the tool of the device.',
  ),
  CKR_SESSION_CLOSED: row(0xb0, 'the session was closed', AGAIN),
  CKR_SESSION_COUNT: row(0xb1, 'too many programs use the token', 'Close other programs.'),
  CKR_SESSION_HANDLE_INVALID: row(0xb3, 'the session is gone', AGAIN),
  CKR_SESSION_PARALLEL_NOT_SUPPORTED: row(0xb4, 'the library wants another session', REPORT),
  CKR_SESSION_READ_ONLY: row(0xb5, 'the session may only read', REPORT),
  CKR_SESSION_EXISTS: row(0xb6, 'a session is open already', RESTART),
  CKR_SESSION_READ_ONLY_EXISTS: row(0xb7, 'a session that may only read is open', RESTART),
  CKR_SESSION_READ_WRITE_SO_EXISTS: row(
    0xb8,
    'the security officer is logged in',
    'Log the security officer out: close the program that administers the token.',
  ),
  CKR_SIGNATURE_INVALID: row(0xc0, 'the signature is wrong', REPORT),
  CKR_SIGNATURE_LEN_RANGE: row(0xc1, 'the signature has a wrong length', REPORT),
  CKR_TEMPLATE_INCOMPLETE: row(0xd0, 'something was left out', REPORT),
  CKR_TEMPLATE_INCONSISTENT: row(0xd1, 'two things said do not fit together', REPORT),
  CKR_TOKEN_NOT_PRESENT: row(0xe0, 'there is no token in the slot', PLUG),
  CKR_TOKEN_NOT_RECOGNIZED: row(
    0xe1,
    'the library does not know this token',
    'Check that the token is set up, and that the library is the one for it.',
  ),
  CKR_TOKEN_WRITE_PROTECTED: row(0xe2, 'the token cannot be written', REPORT),
  CKR_UNWRAPPING_KEY_HANDLE_INVALID: row(0xf0, 'the unwrapping key is not there', REPORT),
  CKR_UNWRAPPING_KEY_SIZE_RANGE: row(0xf1, 'the unwrapping key has a wrong length', REPORT),
  CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT: row(0xf2, 'the unwrapping key is of a wrong kind', REPORT),
  CKR_USER_ALREADY_LOGGED_IN: row(0x100, 'the user is logged in already', RESTART),
  CKR_USER_NOT_LOGGED_IN: row(
    0x101,
    'nobody is logged in to the token',
    'Give the PIN; the token may have been unplugged in between.',
  ),
  CKR_USER_PIN_NOT_INITIALIZED: row(
    0x102,
    'the token has no PIN yet',
    'Set one with the tool of the device, or: pkcs11-tool --login --login-type so --init-pin',
  ),
  CKR_USER_TYPE_INVALID: row(0x103, 'the token knows no such user', UPDATE),
  CKR_USER_ANOTHER_ALREADY_LOGGED_IN: row(
    0x104,
    'another user is logged in to the token',
    'Close the program that administers the token.',
  ),
  CKR_USER_TOO_MANY_TYPES: row(0x105, 'too many users are logged in', 'Close other programs.'),
  CKR_WRAPPED_KEY_INVALID: row(0x110, 'a wrapped key cannot be read', REPORT),
  CKR_WRAPPED_KEY_LEN_RANGE: row(0x112, 'a wrapped key has a wrong length', REPORT),
  CKR_WRAPPING_KEY_HANDLE_INVALID: row(0x113, 'the wrapping key is not there', REPORT),
  CKR_WRAPPING_KEY_SIZE_RANGE: row(0x114, 'the wrapping key has a wrong length', REPORT),
  CKR_WRAPPING_KEY_TYPE_INCONSISTENT: row(0x115, 'the wrapping key is of a wrong kind', REPORT),
  CKR_RANDOM_SEED_NOT_SUPPORTED: row(0x120, 'the random numbers take no seed', REPORT),
  CKR_RANDOM_NO_RNG: row(0x121, 'the device has no random numbers', OTHER_KEY),
  CKR_DOMAIN_PARAMS_INVALID: row(0x130, 'the device does not know the curve', OTHER_KEY),
  CKR_CURVE_NOT_SUPPORTED: row(0x140, 'the device does not know the curve', OTHER_KEY),
  CKR_BUFFER_TOO_SMALL: row(0x150, 'the answer is longer than expected', REPORT),
  CKR_SAVED_STATE_INVALID: row(0x160, 'a saved state cannot be used', REPORT),
  CKR_INFORMATION_SENSITIVE: row(0x170, 'the device keeps that to itself', REPORT),
  CKR_STATE_UNSAVEABLE: row(0x180, 'a state cannot be saved', REPORT),
  CKR_CRYPTOKI_NOT_INITIALIZED: row(0x190, 'the library was not started', RESTART),
  CKR_CRYPTOKI_ALREADY_INITIALIZED: row(0x191, 'the library was started already', RESTART),
  CKR_MUTEX_BAD: row(0x1a0, 'a lock of the library is broken', RESTART),
  CKR_MUTEX_NOT_LOCKED: row(0x1a1, 'a lock of the library was open', RESTART),
  CKR_NEW_PIN_MODE: row(0x1b0, 'the token wants a new PIN', 'Set one with the tool of the device.'),
  CKR_NEXT_OTP: row(0x1b1, 'the token wants the next one-time password', 'Wait for it.'),
  CKR_EXCEEDED_MAX_ITERATIONS: row(0x1b5, 'the device gave up after many tries', AGAIN),
  CKR_FIPS_SELF_TEST_FAILED: row(0x1b6, 'the device failed its own test', REPORT),
  CKR_LIBRARY_LOAD_FAILED: row(
    0x1b7,
    'the library could not load what it needs',
    'Install what the library depends on; ldd with its path shows what is missing.',
  ),
  CKR_PIN_TOO_WEAK: row(0x1b8, 'the PIN is too simple', 'Choose another PIN.'),
  CKR_PUBLIC_KEY_INVALID: row(0x1b9, 'the public key cannot be used', OTHER_KEY),
  CKR_FUNCTION_REJECTED: row(0x200, 'it was refused at the device', 'Try again and confirm it.'),
  CKR_TOKEN_RESOURCE_EXCEEDED: row(0x201, 'the device has too much to do', AGAIN),
  CKR_OPERATION_CANCEL_FAILED: row(0x202, 'it could not be cancelled', RESTART),
  CKR_KEY_EXHAUSTED: row(0x203, 'the key has made all the signatures it can', OTHER_KEY),
  CKR_VENDOR_DEFINED: row(
    0x80000000,
    'the library gave a reason that only its maker knows',
    'Look the number up in the manual of the device.',
  ),
}
