import { createHash } from 'node:crypto';

/** Stands in every 32 bytes of a plaintext, so that any window of 48 bytes shows it. */
export const marker = 'PLAINTEXT';

/** `size` bytes that say in each line which body they are of, so that no two bodies share one. */
export function plaintextOf(name: string, size: number): Buffer {
  const lines = Math.ceil(size / 32);
  const tag = createHash('sha256').update(name).digest('hex').slice(0, 13);
  let text = '';
  for (let line = 0; line < lines; line++) text += `${marker} ${tag} ${String(line).padStart(7, '0')}\n`;
  return Buffer.from(text).subarray(0, size);
}

/**
 * What would tell a store about a plaintext: its text, also in base64 at each alignment, and the digests that clients send.
 * @returns words that must stand nowhere in what reaches the store
 */
export function tracesOf(body: Buffer): string[] {
  const digest = (algorithm: string) => createHash(algorithm).update(body).digest();
  if (body.length < 16) return [];
  const digests = ['md5', 'sha1', 'sha256'].map(digest);
  return digests.flatMap((value) => [value.toString('hex'), value.toString('base64')]);
}

const inBase64 = [0, 1, 2].map((shift) =>
  Buffer.from(`${'#'.repeat(shift)}${marker}`)
    .toString('base64')
    .slice(shift === 0 ? 0 : 4, -4),
);
/** Words that show plaintext whatever it is. */
export const markers: readonly string[] = [marker, ...inBase64];
