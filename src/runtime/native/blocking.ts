import { callInt } from './libc.ts';

const getFlags = 3;
const setFlags = 4;
const nonBlocking = 0o4000;

/**
 * Makes standard input, output and error blocking, as programs expect them that are executed next: Node's
 * streams change pipes, and the change stays with the pipe.
 */
export function makeStandardBlocking(): void {
  for (const descriptor of [0, 1, 2]) {
    const flags = callInt('fcntl', descriptor, getFlags);
    if (flags !== -1 && flags & nonBlocking) callInt('fcntl', descriptor, setFlags, flags & ~nonBlocking);
  }
}
