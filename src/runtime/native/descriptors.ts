import { readdirSync } from 'node:fs';
import { callInt, tryInt } from './libc.ts';

const setFlags = 2;
const closeOnExec = 1;
const firstAfterStandard = 3;

/** No program that is started later gets any descriptor but 0, 1 and 2, whoever opened it. */
export function closeOthersOnExec(): void {
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name);
    // one of them belongs to the listing itself and is closed by now: its failure is no matter
    if (descriptor >= firstAfterStandard) callInt('fcntl', descriptor, setFlags, closeOnExec);
  }
}

/** @throws NativeError EBADF */
export function keepOnExec(descriptor: number, keep: boolean): void {
  tryInt('fcntl', descriptor, setFlags, keep ? 0 : closeOnExec);
}
