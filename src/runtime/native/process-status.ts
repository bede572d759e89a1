/** Reads fields of the text files of /proc. */

/** Text after `name:` in /proc/PID/status; undefined if the line is missing. */
export function statusField(status: string, name: string): string | undefined {
  return new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(status)?.[1];
}

/** Bytes of a field given in kB; 0 if it is missing, as for a process that has ended. */
export function statusBytes(status: string, name: string): number {
  return Number.parseInt(statusField(status, name) ?? '0', 10) * 1024;
}

/** Soft limit from a line of /proc/PID/limits such as `Max core file size`; Infinity if unlimited. */
export function softLimit(limits: string, name: string): number {
  const value = new RegExp(`^${name} +(\\S+)`, 'm').exec(limits)?.[1];
  return value === undefined || value === 'unlimited' ? Number.POSITIVE_INFINITY : Number(value);
}
