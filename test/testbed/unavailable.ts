/** The variable by which the runner tells suites which tools cannot be had. */
export const UNAVAILABLE = 'SVC_TEST_UNAVAILABLE';

/** What the installer tells the runner of a tool that cannot be had. */
export interface UnavailableTool {
  readonly unavailable: string;
  readonly reason: string;
}

/** Why a tool cannot be had, where this run has already tried. */
export function knownUnavailable(name: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const known = JSON.parse(env[UNAVAILABLE] ?? '[]') as UnavailableTool[];
  return known.find(({ unavailable }) => unavailable === name)?.reason;
}
