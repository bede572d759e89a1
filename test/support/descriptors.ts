import { readdirSync, readlinkSync } from 'node:fs';

export interface Descriptors {
  readonly sockets: number;
  /** Targets of those that are regular files, deleted ones included. */
  readonly files: readonly string[];
}

/** What a process has open, from /proc (Linux). */
export function descriptorsOf(pid: number): Descriptors {
  const targets = readdirSync(`/proc/${pid}/fd`).map((name) => target(`/proc/${pid}/fd/${name}`));
  return {
    sockets: targets.filter((text) => text.startsWith('socket:')).length,
    files: targets.filter((text) => text.startsWith('/') && !text.startsWith('/dev/')),
  };
}

function target(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
