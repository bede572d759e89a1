/** Reads fields of the text files of /proc. */

/** The text after `name:` in /proc/PID/status; undefined where there is no such line. */
export function statusField(status: string, name: string): string | undefined {
  return new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)?.[1];
}

/** Bytes of a field that is given in kB; 0 where there is none, as for a process that has ended. */
export function statusBytes(status: string, name: string): number {
  return Number.parseInt(statusField(status, name) ?? '0', 10) * 1024;
}

/** The soft limit of a line of /proc/PID/limits such as `Max core file size`; Infinity where it is unlimited. */
export function softLimit(limits: string, name: string): number {
  const value = new RegExp(`^${name} +(\\S+)`, 'm').exec(limits)?.[1];
  return value === undefined || value === 'unlimited' ? Number.POSITIVE_INFINITY : Number(value);
}
