import { type FSWatcher, watch } from 'node:fs';
import type { Health } from '../../../runtime/health/health.ts';
import { sleep } from '../../../runtime/lifecycle/sleep.ts';
import { describeError } from '../../../runtime/logging/describe-error.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { type CertDir, readCertDir } from './cert-dir.ts';
import type { ServerCertificate } from './contract.ts';
import { type Rounds, startRounds } from './rounds.ts';

export interface FollowCertDirOptions extends CertDir {
  readonly onCertificate: (certificate: ServerCertificate) => void;
  readonly intervalMs: number;
  readonly health: Health;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const condition = 'certificate files';
/** Files that are being replaced need not fit together for a moment. */
const secondLookMs = 1_000;

/**
 * Reads the folder again and again, and as soon as something in it changes. Files that cannot be used are logged, and
 * what was served before stays.
 * @throws SvcError (exit 78) when they cannot be used at the start
 */
export async function followCertDir(options: FollowCertDirOptions): Promise<Rounds> {
  const { folder, onCertificate, intervalMs, log, signal, health } = options;
  onCertificate(await readCertDir(options));
  let told = '';
  const round = async () => {
    try {
      onCertificate(await readTwice(options));
      health.recovered(condition);
      told = '';
    } catch (error) {
      if (signal.aborted) return;
      const { error: reason, ...fields } = describeError(error);
      health.degraded(condition, `${reason}; the former certificate still serves`);
      if (told !== reason) log.error('certificates.files.unusable', { error: reason, ...fields });
      told = reason;
    }
  };
  const rounds = startRounds({ event: 'certificates.files', intervalMs, round, log, signal });
  const watcher = watchFolder(folder, rounds.wake);
  return { wake: rounds.wake, closed: rounds.closed.finally(() => watcher?.close()) };
}

async function readTwice(options: FollowCertDirOptions): Promise<ServerCertificate> {
  try {
    return await readCertDir(options);
  } catch {
    await sleep(secondLookMs, options.signal);
    return readCertDir(options);
  }
}

/** Undefined where the system has no watch left: the folder is read at intervals all the same. */
function watchFolder(folder: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(folder, { persistent: false }, onChange).on('error', () => {});
  } catch {
    return undefined;
  }
}
