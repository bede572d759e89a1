import { certificateErrorCode } from '../../../core/certificate-errors.ts';
import { exitStatus, SvcError } from '../../../core/errors.ts';
import type { Sources } from '../../../core/settings/origin.ts';
import { resolveSettings } from '../../../core/settings/resolve.ts';
import { createLogger } from '../../../runtime/logging/create-logger.ts';
import { defaultCredentials } from '../../../runtime/object-store/credentials.ts';
import { storeClient } from '../../../runtime/object-store/s3-client.ts';
import { storeOf } from '../../../runtime/object-store/settings.ts';
import { trustedAuthorities } from '../../../runtime/object-store/trust.ts';
import { findGarbage } from './collect.ts';
import type { Garbage } from './garbage.ts';
import { SdkGcStore } from './sdk-gc-store.ts';
import { type GcSettings, gcSettings } from './settings.ts';

export interface GcReport {
  readonly deleted: boolean;
  readonly garbage: readonly Garbage[];
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Finds helper objects that nothing needs and, when told to, deletes them.
 * `onFound` is called as each turns up, before it is deleted.
 * @throws SvcError CONFIG_INVALID, GC_STORE_FAILED
 */
export async function collectGarbage(
  sources: Sources & { readonly env: Env },
  onFound: (garbage: Garbage) => void,
): Promise<GcReport> {
  const settings = resolveSettings(gcSettings, sources);
  const store = await openGcStore(settings, sources.env);
  const garbage: Garbage[] = [];
  try {
    for await (const found of findGarbage(store, { ...settings, now: Date.now() })) {
      onFound(found);
      if (settings.delete) await store.delete(found.bucket, found.keys);
      garbage.push(found);
    }
  } catch (cause) {
    throw storeFailure(cause, settings, garbage.length);
  }
  return { deleted: settings.delete, garbage };
}

async function openGcStore(settings: GcSettings, env: Env): Promise<SdkGcStore> {
  const log = await createLogger({ component: 'proxy-gc', level: 'error' });
  const client = storeClient({
    address: storeOf(settings),
    credentials: defaultCredentials(env, log),
    ca: trustedAuthorities(env),
  });
  return new SdkGcStore(client, settings.reservedPrefix);
}

function storeFailure(cause: unknown, settings: GcSettings, count: number): SvcError {
  const certificate = certificateErrorCode(cause);
  const name = certificate ?? (cause instanceof Error ? cause.name : 'unknown');
  const { host } = storeOf(settings).upstream;
  const done = settings.delete ? `${count} finds were deleted before` : 'nothing was deleted';
  return new SvcError(
    'GC_STORE_FAILED',
    `The object store ${host} refused or could not be reached (${name}); ${done}`,
    {
      nextStep:
        certificate === undefined
          ? 'Check the endpoint and that the credentials may list buckets, uploads, versions and objects; then run it again.'
          : 'Give the authority of its certificate by AWS_CA_BUNDLE, and the name that stands in it by --upstream.',
      exitStatus: certificate === undefined ? exitStatus.unavailable : exitStatus.config,
      cause,
    },
  );
}
