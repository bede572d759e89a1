import { readFileSync } from 'node:fs';

export interface Mount {
  /** In the numbering of `stat`. */
  readonly device: number;
  /** Root of the mount within its file system. */
  readonly root: string;
  readonly path: string;
  readonly type: string;
}

const line = /^\d+ \d+ (\d+):(\d+) (\S+) (\S+) \S+ (?:\S+ )*?- (\S+) /;

/** @param text content of /proc/PID/mountinfo; blanks in paths stay escaped */
export function parseMounts(text: string): Mount[] {
  return text.split('\n').flatMap((each) => {
    const [, major, minor, root, path, type] = line.exec(each) ?? [];
    if (root === undefined || path === undefined || type === undefined) return [];
    return [{ device: deviceOf(Number(major), Number(minor)), root, path, type }];
  });
}

/** The C library's `makedev`, for numbers of 20 bits. */
const deviceOf = (major: number, minor: number): number =>
  (minor & 0xff) + (minor - (minor & 0xff)) * 0x1000 + major * 0x100;

/** Mount points in this process's mount namespace, as this process sees them. */
export function ownMountPoints(): string[] {
  const unescaped = (text: string) =>
    text.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
  const mounts = parseMounts(readFileSync('/proc/self/mountinfo', 'latin1'));
  return mounts.map(({ path }) => Buffer.from(unescaped(path), 'latin1').toString());
}
