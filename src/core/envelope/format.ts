/** Stored body of an object or a part: `nonce || ciphertext || tag` (specification, "Encrypted body format"). */
export const nonceBytes = 12;
export const tagBytes = 16;
export const overheadBytes = nonceBytes + tagBytes;
export const dekBytes = 32;
export const algorithmName = 'AES-256-GCM';
/** The store takes at most 5 GiB in one PUT or part, the overhead included. */
export const maxPlaintextBytes = 5 * 1024 ** 3 - overheadBytes;

/** @returns stored size in bytes of a plaintext of `size` bytes. */
export const storedSize = (size: number): number => size + overheadBytes;

/** @returns plaintext size of a stored body, or undefined when it is too short to be one. */
export const plaintextSize = (stored: number): number | undefined =>
  stored < overheadBytes ? undefined : stored - overheadBytes;
