import { pageSize } from './mapping.ts';
import { stackLimit } from './self.ts';

/** What the kernel admits of arguments and environment together, in bytes. */
export interface ArgumentRoom {
  /** One string, its NUL included. */
  readonly string: number;
  /** All strings with their NULs, and 8 bytes for each. */
  readonly total: number;
}

const stringPages = 32;
const least = 128 * 1024;
const most = 6 * 1024 * 1024;
/** For what the kernel adds: the file's name, 16 random bytes and the like. */
const reserve = 4096 + 1024;

/** As execve(2) says; the stack limit that a program inherits counts. */
export function argumentRoom(stack: number = stackLimit().soft): ArgumentRoom {
  const total = Math.max(least, Math.min(most, Math.floor(stack / 4))) - reserve;
  return { string: stringPages * pageSize(), total };
}
