import { createHmac, randomBytes } from 'node:crypto';
import type { Access } from '../../../runtime/registry/access.ts';

/** Of this process alone, so that nobody can try passwords against what is in its memory. */
const key = randomBytes(32);

/** Stands for who asks where: what was found under a scope is given only to those who could have found it themselves. */
export function scopeOf({ endpoint, credential }: Access): string {
  const { origin, name } = endpoint;
  const user = credential === undefined ? [] : [credential.username, credential.password];
  return hash([origin.href, name, ...user]);
}

/** Stands for several texts in their order. */
export function hash(parts: readonly string[]): string {
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}
