import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import type { Health } from '../../../runtime/health/health.ts';
import { startPeriodic } from '../../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import { readAuthorities } from '../../../runtime/net/certificates.ts';

/** Keys of the config map that pods mount, by the use of their certificates. */
export const authorityKeys = { secretsServer: 'ca.crt', objectStore: 'store-ca.crt' } as const;

/** PEM files with private authorities; undefined if there are none. */
export interface AuthorityPaths {
  readonly secretsServer: string | undefined;
  readonly objectStore: string | undefined;
}

/** The content of these files that pods get. */
export interface Authorities {
  /** PEM, certificates only, by key of the config map; for a file that can no longer be read, its last content. */
  current(): Readonly<Record<string, string>>;
  onChange(handle: () => void): void;
  /** Resolves when the signal was aborted; never rejects. */
  readonly closed: Promise<void>;
}

export interface FollowAuthoritiesOptions {
  readonly log: Logger;
  readonly health: Pick<Health, 'degraded' | 'recovered'>;
  readonly signal: AbortSignal;
  /** Time between two reads. Default: 10 s. */
  readonly everyMs?: number;
}

const defaultEveryMs = 10_000;

interface Kind {
  readonly key: string;
  /** In the health report. */
  readonly condition: string;
  readonly unusable: (path: string, cause: unknown) => SvcError;
}

const kinds: Readonly<Record<keyof AuthorityPaths, Kind>> = {
  secretsServer: {
    ...{ key: authorityKeys.secretsServer, condition: 'ca-file' },
    unusable: (path, cause) =>
      new SvcError('CA_FILE_UNUSABLE', `SVC_OPERATOR_CA_FILE: ${path} cannot be used`, {
        ...{ cause, exitStatus: exitStatus.config },
        nextStep:
          'Put the PEM certificates of the CAs that issue certificates for the secrets server into it.',
      }),
  },
  objectStore: {
    ...{ key: authorityKeys.objectStore, condition: 'store-ca-file' },
    unusable: (path, cause) =>
      new SvcError('STORE_CA_FILE_UNUSABLE', `SVC_OPERATOR_STORE_CA_FILE: ${path} cannot be used`, {
        ...{ cause, exitStatus: exitStatus.config },
        nextStep:
          'Put the PEM certificates of the CAs that issue certificates for the object stores into it.',
      }),
  },
};

/**
 * Reads the files now and at intervals: files of mounted config maps are links, whose changes are not always reported.
 * @returns undefined if no file is configured
 * @throws SvcError (exit 78) if a file cannot be used at the start
 */
export async function followAuthorityFiles(
  paths: AuthorityPaths,
  options: FollowAuthoritiesOptions,
): Promise<Authorities | undefined> {
  const named = Object.entries(kinds).flatMap(([name, kind]) => {
    const path = paths[name as keyof AuthorityPaths];
    return path === undefined ? [] : [{ ...kind, path }];
  });
  if (named.length === 0) return undefined;
  const handles: (() => void)[] = [];
  const changed = () => {
    for (const handle of handles) handle();
  };
  const files = await Promise.all(named.map((file) => followFile(file, changed, options)));
  return {
    current: () => Object.fromEntries(files.map(({ key, current }) => [key, current()])),
    onChange: (handle) => void handles.push(handle),
    closed: Promise.all(files.map(({ closed }) => closed)).then(() => {}),
  };
}

interface NamedFile extends Kind {
  readonly path: string;
}

async function followFile(file: NamedFile, changed: () => void, options: FollowAuthoritiesOptions) {
  const { key, path, condition } = file;
  const { log, health, signal, everyMs = defaultEveryMs } = options;
  let current = await readFile(file);
  const look = async () => {
    try {
      const read = await readFile(file);
      health.recovered(condition);
      if (read === current) return;
      current = read;
      log.info('authorities.changed', { path });
      changed();
    } catch (error) {
      health.degraded(condition, `${path} cannot be used; pods are given the authorities it had before`);
      log.warn('authorities.unusable', { path, ...describeError(error) });
    }
  };
  const pass = () => look().then(() => everyMs);
  const { closed } = startPeriodic({ signal, firstMs: everyMs, pass });
  return { key, current: () => current, closed };
}

async function readFile({ path, unusable }: NamedFile): Promise<string> {
  try {
    return await readAuthorities(path);
  } catch (cause) {
    throw unusable(path, cause);
  }
}
