import { createDataKeys, type DataKeys } from '../../../objects/keys/data-keys.ts';
import { readRecoveryKeys, recoveryDataKeys } from '../../../objects/keys/recovery-keys.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { listObjects, type StoredEntry } from '../engine/list-objects.ts';
import type { ObjectReading } from '../engine/open-object.ts';
import { openBulkObjects, openKeyServer } from '../engine/open-objects.ts';
import type { Env } from '../engine/run.ts';
import type { DecryptSettings, RecoverySettings } from './settings.ts';

/** Reads objects of any bucket directly from the store, with the keys that open them. */
export interface OpenReading extends ObjectReading {
  readonly keys: DataKeys;
  /** Pages of objects in byte order of their keys, without helper objects. */
  pages(bucket: string, prefix: string, signal: AbortSignal): AsyncIterable<readonly StoredEntry[]>;
  close(): Promise<void>;
}

/** @throws SvcError for certificates, tokens or recovery keys that cannot be read */
export function openReading(settings: ReadingSettings, env: Env, log: Logger): OpenReading {
  const { requireBound, unencryptedReads, reservedPrefix } = settings;
  const { keys, close } = openKeys(settings, log);
  const objects = openBulkObjects(settings, keys, env, log, { requireBound, unencryptedReads });
  return {
    ...objects,
    pages: (bucket, prefix, signal) =>
      listObjects(objects.upstream, { bucket, prefix, versioned: false, reservedPrefix }, signal),
    async close() {
      objects.close();
      await close();
    },
  };
}

/** With recovery keys, the settings of their store suffice. */
type ReadingSettings =
  | DecryptSettings
  | Pick<
      RecoverySettings,
      | 'upstream'
      | 'region'
      | 'defaultRegion'
      | 'reservedPrefix'
      | 'stateBucket'
      | 'unencryptedReads'
      | 'requireBound'
      | 'recoveryKey'
    >;

interface KeySource {
  readonly keys: DataKeys;
  close(): Promise<void>;
}

/** Recovery keys if given, else the key server. */
function openKeys(settings: ReadingSettings, log: Logger): KeySource {
  const { requireBound, recoveryKey } = settings;
  if (recoveryKey !== undefined || !('vaultAddr' in settings)) {
    const identities = readRecoveryKeys(recoveryKey ?? '');
    return { keys: recoveryDataKeys(identities, { requireBound }), close: async () => undefined };
  }
  const keyServer = openKeyServer('decrypt', settings, log);
  const transit = keyServer.transit(settings.transitMount, settings.transitKey);
  return { keys: createDataKeys(transit, { binding: 'key', requireBound }), close: keyServer.close };
}
