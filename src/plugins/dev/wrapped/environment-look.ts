import { readFileSync } from 'node:fs';

/** What was found in the environment of a process. */
export interface EnvironmentLook {
  readonly path: string;
  readonly bytes: number;
  /** How many of the values stand in it. */
  readonly found: number;
  readonly of: number;
}

/** @throws Error where the process is gone, or another user's */
export function lookIntoEnvironment(pid: number, values: readonly string[]): EnvironmentLook {
  const path = `/proc/${pid}/environ`;
  const environment = readFileSync(path);
  const found = values.filter((value) => environment.includes(value)).length;
  return { path, bytes: environment.length, found, of: values.length };
}
