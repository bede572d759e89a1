import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { bundledProgram } from '../../../support/bundled-program.ts';
import { cleanEnv } from '../../../support/clean-env.ts';

export const fixturePath = (name: string): string =>
  bundledProgram(new URL(`./fixtures/${name}.ts`, import.meta.url));

/** Runs fixtures/<name>.ts to its end. @param under put in front of the command, such as `unshare …` */
export function runFixture(
  name: string,
  args: readonly string[],
  under: readonly string[] = [],
): SpawnSyncReturns<string> {
  const [command = '', ...rest] = [...under, process.execPath, fixturePath(name), ...args];
  return spawnSync(command, rest, { encoding: 'utf8', timeout: 60_000, env: cleanEnv({}) });
}
