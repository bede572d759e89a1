import { fileURLToPath } from 'node:url';
import type { TryLines } from '../../../src/plugins/dev/report.ts';
import type { Facts } from '../../../src/plugins/dev/round-trip.ts';
import type { Protection } from '../../../src/plugins/dev/wrapped/protection.ts';
import type { WrappedTryLines } from '../../../src/plugins/dev/wrapped/show-wrapper.ts';
import type { WrappedTrip } from '../../../src/plugins/dev/wrapped/wrapped-demo.ts';
import { type Child, launchReady } from '../../support/child.ts';
import { cleanEnv } from '../../support/clean-env.ts';
import { runCommand } from '../../support/run-command.ts';

const ENTRY = fileURLToPath(new URL('../../../bin/run.js', import.meta.url));

export interface DevFacts extends Facts {
  readonly roundTrip: {
    readonly bucket: string;
    readonly key: string;
    readonly stored: string;
    readonly equal: boolean;
  };
  readonly wrapper: Omit<WrappedTrip, 'protection'> &
    Protection & { readonly pid: number; readonly applicationPid: number; readonly rotation: string };
  readonly try: TryLines & WrappedTryLines;
}

/** Runs `svc dev` to its end. */
export const runDev = (cwd: string, ...args: string[]) => runDevUnder([], cwd, ...args);

/** The same, below a command that starts it, such as `prlimit --memlock=0`. */
export function runDevUnder(under: readonly string[], cwd: string, ...args: string[]) {
  const [file = '', ...rest] = [...under, process.execPath, ENTRY, 'dev', ...args];
  return runCommand(file, rest, cwd, { env: { HOME: cwd } });
}

export interface DevUp {
  readonly child: Child;
  readonly facts: DevFacts;
}

/** Starts `svc dev --json` on free ports where the usual ones are taken, and waits until it has told its facts. */
export async function startDev(cwd: string, ...args: string[]): Promise<DevUp> {
  const command = [process.execPath, ENTRY, 'dev', '--json', ...args];
  const options = { env: cleanEnv({ HOME: cwd }), cwd };
  const { child, found } = await launchReady('the facts of svc dev', command, options, (child) =>
    JSON.parse(child.logs()),
  );
  return { child, facts: found };
}
