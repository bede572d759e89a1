import { tryInt } from './libc.ts';

const getDumpableOption = 3;

/** Whether other processes of the same user may trace this one and read its /proc files. @throws NativeError */
export function isDumpable(): boolean {
  return tryInt('prctl', getDumpableOption, 0n, 0n, 0n, 0n) === 1;
}
