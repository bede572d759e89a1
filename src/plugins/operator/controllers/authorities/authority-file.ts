import { exitStatus, SvcError } from '../../../../core/errors.ts';
import type { Health } from '../../../../runtime/health/health.ts';
import { sleep } from '../../../../runtime/lifecycle/sleep.ts';
import { describeError } from '../../../../runtime/logging/describe-error.ts';
import type { Logger } from '../../../../runtime/logging/logger.ts';
import { readAuthorities } from '../../../../runtime/tls/read-authorities.ts';

/** Certificates of authorities that a file holds. */
export interface AuthorityFile {
  /** PEM, nothing but certificates; as it was last when the file cannot be read any more. */
  current(): string;
  onChange(handle: () => void): void;
  /** Resolves when the signal was aborted; never rejects. */
  readonly closed: Promise<void>;
}

export interface AuthorityFileOptions {
  readonly path: string;
  readonly log: Logger;
  readonly health: Pick<Health, 'degraded' | 'recovered'>;
  readonly signal: AbortSignal;
  /** Between two looks at it. Default: 10 s. */
  readonly everyMs?: number;
}

const defaultEveryMs = 10_000;
const condition = 'ca-file';

/**
 * Reads the file, and again at intervals: files of mounted config maps are links, whose changes are not always told.
 * @throws SvcError (exit 78) when it cannot be used at the start
 */
export async function followAuthorityFile(options: AuthorityFileOptions): Promise<AuthorityFile> {
  const { path, log, health, signal } = options;
  let current = await readFile(path);
  const handles: (() => void)[] = [];
  const look = async () => {
    try {
      const read = await readFile(path);
      health.recovered(condition);
      if (read === current) return;
      current = read;
      log.info('authorities.changed', { path });
      for (const handle of handles) handle();
    } catch (error) {
      health.degraded(condition, `${path} cannot be used; pods are given the authorities it had before`);
      log.warn('authorities.unusable', { path, ...describeError(error) });
    }
  };
  const loop = async () => {
    while (!signal.aborted) {
      await sleep(options.everyMs ?? defaultEveryMs, signal).catch(() => {});
      if (!signal.aborted) await look();
    }
  };
  return { current: () => current, onChange: (handle) => void handles.push(handle), closed: loop() };
}

async function readFile(path: string): Promise<string> {
  try {
    return await readAuthorities(path);
  } catch (cause) {
    throw new SvcError('CA_FILE_UNUSABLE', `SVC_OPERATOR_CA_FILE: ${path} cannot be used`, {
      ...{ cause, exitStatus: exitStatus.config },
      nextStep: 'Give it the PEM certificates of the authorities that have issued for the secrets server.',
    });
  }
}
