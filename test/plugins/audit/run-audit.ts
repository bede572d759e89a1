import { fileURLToPath } from 'node:url';
import { runCommand } from '../../support/run-command.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs `svc audit` as it is built. */
export function runAudit(args: readonly string[], env: Readonly<Record<string, string>>) {
  const entry = `${root}bin/run.js`;
  return runCommand(process.execPath, [entry, 'audit', ...args], root, { env, timeoutMs: 100_000 });
}
