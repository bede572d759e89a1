import { createDataKeys, type DataKeys } from '../../../objects/keys/data-keys.ts';
import { readRecoveryKeys, recoveryDataKeys } from '../../../objects/keys/recovery-keys.ts';
import { apparentSize, type ObjectReader } from '../../../objects/read/stored-object.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { again, listObjects, type StoredEntry } from '../engine/list-objects.ts';
import { during, type ObjectReading, type OpenedObject, open } from '../engine/open-object.ts';
import { openBulkObjects, openKeyServer } from '../engine/open-objects.ts';
import type { DecryptSettings, RecoverySettings } from './settings.ts';

/** What an object's headers tell without reading its body. */
export interface LookedAt {
  readonly encrypted: boolean;
  /** Plaintext size in bytes, as far as headers tell. */
  readonly size: number | undefined;
}

/** Objects of one bucket, read directly from the store, and the keys that open them. */
export interface Source {
  /** Pages of objects in byte order of their keys, without helper objects. */
  pages(prefix: string, signal: AbortSignal): AsyncIterable<readonly StoredEntry[]>;
  look(key: string, signal: AbortSignal): Promise<LookedAt>;
  /** @param take called again from the object's beginning if a retry may help */
  read<T>(key: string, take: (object: OpenedObject) => Promise<T>, signal: AbortSignal): Promise<T>;
  close(): Promise<void>;
}

/** @throws SvcError for certificates or tokens that cannot be read */
export function openSource(
  bucket: string,
  settings: ReadingSettings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): Source {
  const reading = openReading(settings, env, log);
  const { reader, pages, close } = reading;
  return {
    pages: (prefix, signal) => pages(bucket, prefix, signal),
    look: (key, signal) => again(() => look(reader, bucket, key, signal), signal),
    read: (key, take, signal) =>
      again(() => during(signal, async (user) => take(await open(reading, bucket, key, user))), signal),
    close,
  };
}

/** Reads objects of any bucket directly from the store, with the keys that open them. */
export interface OpenReading extends ObjectReading {
  readonly keys: DataKeys;
  /** Pages of objects in byte order of their keys, without helper objects. */
  pages(bucket: string, prefix: string, signal: AbortSignal): AsyncIterable<readonly StoredEntry[]>;
  close(): Promise<void>;
}

/** @throws SvcError for certificates, tokens or recovery keys that cannot be read */
export function openReading(
  settings: ReadingSettings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): OpenReading {
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

async function look(
  reader: ObjectReader,
  bucket: string,
  key: string,
  signal: AbortSignal,
): Promise<LookedAt> {
  const object = await reader.stat({ bucket, key }, { signal });
  return { encrypted: object.envelope !== undefined, size: apparentSize(object) };
}
