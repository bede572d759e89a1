import { fileURLToPath } from 'node:url';

/** A program of the fixtures, in Perl, which every Debian has: it starts in 5 ms and knows every signal. */
function perl(name: string): string[] {
  return ['perl', fileURLToPath(new URL(`../fixtures/${name}.pl`, import.meta.url))];
}

/** Writes `ready PID`, then a line for each signal that it gets; SIGRTMIN ends it with status 5. */
export const signalRecorder = perl('record-signals');
/** Ignores SIGTERM but for a line; ends by itself after a minute. Creates the file that its argument names when ready. */
export const deafToTerm = perl('deaf');
/** Stops itself; SIGTERM ends it with status 4. */
export const stopsItself = perl('stops-itself');
