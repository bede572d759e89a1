import { partsOf } from './proc-text.ts';

export interface Mount {
  /** In the numbering of `stat`. */
  readonly device: number;
  /** Root of the mount within its file system. */
  readonly root: string;
  readonly path: string;
  readonly type: string;
}

const line = /^\d+ \d+ (\d+):(\d+) (\S+) (\S+) \S+ (?:\S+ )*?- (\S+) /;

/** The kernel lets a namespace have 100,000 mounts (fs.mount-max), but says nothing of how long their paths are. */
const maxBytes = 33_554_432;

/**
 * The mounts that a process sees, in their order; blanks in paths stay escaped.
 * @param path of a mountinfo file
 * @throws RangeError for a file that is too long; what reading it throws
 */
export function* mountsOf(path: string): Generator<Mount, void> {
  for (const text of partsOf(path, { maxBytes })) {
    const mount = parseMount(text);
    if (mount !== undefined) yield mount;
  }
}

function parseMount(text: string): Mount | undefined {
  const [, major, minor, root, path, type] = line.exec(text) ?? [];
  if (root === undefined || path === undefined || type === undefined) return undefined;
  return { device: deviceOf(Number(major), Number(minor)), root, path, type };
}

/** The C library's `makedev`, for numbers of 20 bits. */
const deviceOf = (major: number, minor: number): number =>
  (minor & 0xff) + (minor - (minor & 0xff)) * 0x1000 + major * 0x100;

/** Mount points in this process's mount namespace, as this process sees them. */
export function ownMountPoints(): string[] {
  const unescaped = (text: string) =>
    text.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
  return [...mountsOf('/proc/self/mountinfo')].map(({ path }) => unescaped(path));
}
