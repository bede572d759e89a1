import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import {
  type RegistrationOptions,
  type RegistrationServer,
  startRegistration,
} from '../../../../../src/plugins/agent/registration/start-registration.ts';
import { createMetrics } from '../../../../../src/runtime/health/create-metrics.ts';
import type { LogFields, Logger } from '../../../../../src/runtime/logging/logger.ts';
import { temporaryFolder } from '../../../../support/temporary.ts';
import { type FakeGuard, fakeGuard } from './fake-guard.ts';

export interface LogEntry {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly event: string;
  readonly fields: LogFields;
}

export interface Served extends RegistrationServer {
  readonly socketPath: string;
  readonly guard: FakeGuard;
  readonly log: readonly LogEntry[];
  /** The lines of `/metrics` that begin so. */
  metrics(name: string): Promise<string[]>;
}

/** Serves a fake guard for as long as the work takes. */
export async function withServed(
  work: (served: Served) => Promise<void>,
  options: Partial<Omit<RegistrationOptions, 'socketPath'>> & { guard?: FakeGuard } = {},
): Promise<void> {
  const folder = temporaryFolder('registration');
  chmodSync(folder.path, 0o755);
  const log: LogEntry[] = [];
  const metrics = await createMetrics({ version: '0', component: 'agent' });
  const guard = options.guard ?? fakeGuard();
  const socketPath = join(folder.path, 'agent.sock');
  const registration = await startRegistration({
    ...{ socketPath, log: keeping(log), metrics, version: '1.2.3' },
    ...options,
    guard,
  });
  const lines = async (name: string) =>
    (await metrics.expose()).body.split('\n').filter((line) => line.startsWith(name));
  try {
    await work({ ...registration, socketPath, guard, log, metrics: lines });
  } finally {
    await registration.close();
    await folder.remove();
  }
}

export function keeping(entries: LogEntry[]): Logger {
  const at =
    (level: LogEntry['level']) =>
    (event: string, fields: LogFields = {}) =>
      void entries.push({ level, event, fields });
  const log: Logger = {
    ...{ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    child: () => log,
  };
  return log;
}
