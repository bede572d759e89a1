import { fileURLToPath } from 'node:url';
import { type Child, launch } from '../../support/child.ts';
import { cleanEnv } from '../../support/clean-env.ts';
import { npmEnv } from '../../support/npm.ts';
import { runCommand } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import type { CommandResult } from '../../support/types.ts';

const ENTRY = fileURLToPath(new URL('../../../bin/run.js', import.meta.url));

type Variables = Readonly<Record<string, string>>;

/** A user of svc with a home and plugins of their own. */
export interface SvcHome {
  readonly path: string;
  /** Runs `svc` with these words. */
  svc(words: string, env?: Variables): Promise<CommandResult>;
  start(words: string, env?: Variables): Promise<Child>;
  remove(): Promise<void>;
}

export function svcHome(): SvcHome {
  const folder = temporaryFolder('svc-home');
  // oclif's own commands take CI for a terminal with colours
  const home = { HOME: folder.path, XDG_DATA_HOME: '', XDG_CACHE_HOME: '', NO_COLOR: '1', ...npmEnv() };
  const args = (words: string) => [ENTRY, ...words.split(' ')];
  return {
    path: folder.path,
    svc: (words, env = {}) =>
      runCommand(process.execPath, args(words), folder.path, { env: { ...home, ...env } }),
    start: (words, env = {}) =>
      launch(process.execPath, args(words), { env: cleanEnv({ ...home, ...env }), cwd: folder.path }),
    remove: () => folder.remove(),
  };
}
