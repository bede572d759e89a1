import type { Logger } from '../../runtime/logging/logger.ts';
import { relock } from '../../runtime/native/process-lock.ts';
import type { Lease, SecretClient } from '../../runtime/vault/secret-client/contract.ts';
import { type Prepared, prepareApplication, type Surroundings } from './application/prepared.ts';
import type { Delivered } from './delivery/delivered.ts';
import { nameSecrets } from './delivery/name-secrets.ts';
import { fetchSecrets } from './secrets/fetch.ts';
import { releaseAll } from './secrets/read-all.ts';

export interface Obtained {
  readonly lease: Lease;
  readonly prepared: Prepared;
  /** Of the secrets that were prepared. */
  readonly digest: string;
  /** Their number. */
  readonly count: number;
}

export interface ObtainOptions {
  readonly client: SecretClient;
  readonly around: Surroundings;
  readonly digest: (delivered: readonly Delivered[]) => string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Fetches the secrets and lays them out for the application; nothing else of them is kept.
 * @throws VaultError (69, 77, 78), SvcError SECRETS_UNUSABLE (78), MEMFD_SECRET_UNAVAILABLE (71)
 */
export async function obtain({ client, around, digest, log, signal }: ObtainOptions): Promise<Obtained> {
  const { settings } = around.config;
  const { secretPaths: paths, startupTimeout: timeoutMs } = settings;
  const { lease, documents } = await fetchSecrets(client, { paths, timeoutMs, signal, log });
  try {
    relock();
    const delivered = nameSecrets(documents, settings);
    const prepared = prepareApplication(delivered, around);
    tell(prepared, delivered, around, log);
    return { lease, prepared, digest: digest(delivered), count: delivered.length };
  } finally {
    releaseAll(documents);
  }
}

/** Names and numbers only. */
function tell(
  { shared, replaced, region }: Prepared,
  delivered: readonly Delivered[],
  { config: { settings } }: Surroundings,
  log: Logger,
): void {
  log.info('secrets.fetched', {
    secrets: delivered.length,
    paths: settings.secretPaths,
    memory: region.kind,
    locked: region.locked,
  });
  if (replaced.length > 0) log.warn('secrets.replace.inherited', { names: replaced });
  if (settings.delivery === 'both' && !shared) {
    log.warn('descriptor.unavailable', {
      remark: 'the kernel or its limits admit no memfd_secret memory: the environment alone has the secrets',
    });
  }
}
