import { createRecordKey } from '../../../objects/format/records.ts';
import { rewrapRecordKey } from '../../../objects/format/rewrap-record.ts';
import { createDataKeys } from '../../../objects/keys/data-keys.ts';
import { readUploadRecord } from '../../../objects/multipart/upload-record.ts';
import { storeOf } from '../../../objects/upstream/store-settings.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { createLogger } from '../../../runtime/logging/create-logger.ts';
import { resolveSettings } from '../../../runtime/settings/resolve.ts';
import { type FaultReport, Faults } from '../engine/faults.ts';
import { type InPlaceCall, type InPlaceRun, workInPlace } from '../engine/in-place.ts';
import { type OpenKeyServer, openBulkObjects, openKeyServer } from '../engine/open-objects.ts';
import { earlyEnd, placeOf } from '../engine/run.ts';
import { keyErrors } from '../engine/settings.ts';
import { endOf } from '../engine/store-failure.ts';
import { keepsConditions } from '../engine/write-conditions.ts';
import { type NeededKey, rewrapObject } from './rewrap-object.ts';
import { type RewrapSettings, rewrapSettings } from './settings.ts';
import { type KeyUse, type RewrapCounts, RewrapTally } from './tally.ts';
import { openTarget, type TargetKeys, type TransitPair } from './target-keys.ts';

export interface RewrapReport extends RewrapCounts, FaultReport {
  readonly bucket: string;
  readonly prefix: string;
  readonly dryRun: boolean;
  /** The key that is to wrap all data keys. */
  readonly target: NeededKey & { readonly mount: string };
  /** Reasons for which keys went into records although headers were allowed, with counts. */
  readonly recordedBecause: Readonly<Record<string, number>>;
  /** Key versions needed to read everything seen, after this run. */
  readonly keyVersions: readonly KeyUse[];
  /** Everything seen needs the target key only. */
  readonly complete: boolean;
  /** The error that ended the run early. */
  readonly endedBy: Error | undefined;
}

/**
 * Wraps the data keys of all objects, in all versions, by the latest version of the transit key or by another key.
 * Reads and writes no bodies. No state is kept between runs: the store itself shows what is done.
 * @throws SvcError if the run cannot start: CONFIG_INVALID, REWRAP_USAGE, REWRAP_TARGET; VaultError
 */
export async function rewrapObjects(call: InPlaceCall<RewrapCounts>): Promise<RewrapReport> {
  const place = placeOf(call.at, 'rewrap');
  const settings = resolveSettings(rewrapSettings, call.sources, keyErrors);
  const { host } = storeOf(settings).upstream;
  const log = createLogger({ component: 'proxy-rewrap', level: 'error' });
  const keyServer = openKeyServer('rewrap', settings, log);
  const transits = transitsOf(settings, keyServer);
  const keys = createDataKeys(transits.from, { binding: 'key', requireBound: false });
  const objects = openBulkObjects(settings, keys, call.sources.env, log);
  const faults = new Faults();
  const tally = new RewrapTally();
  try {
    const target = await openTarget(transits, objects.rewraps, call.signal);
    const endedBy = await earlyEnd(
      () => rewrapAll({ call, place, settings, objects, target, faults, tally }),
      call.signal,
      (error) => endOf(error, 'rewrap', { host, bucket: place.bucket }),
    );
    const { keyName, keyVersion } = target;
    const whole = endedBy === undefined && !call.signal.aborted;
    return {
      ...{ ...place, ...tally.counts, dryRun: call.dryRun, endedBy },
      complete: whole && isComplete(target, tally, faults),
      target: { mount: settings.toMount ?? settings.transitMount, keyName, keyVersion },
      ...{ recordedBecause: tally.because, keyVersions: tally.uses, ...faults.report },
    };
  } finally {
    objects.close();
    await keyServer.close();
  }
}

function transitsOf(settings: RewrapSettings, keyServer: OpenKeyServer): TransitPair {
  const { transitKey, transitMount, toKey = transitKey, toMount = transitMount } = settings;
  const from = keyServer.transit(transitMount, transitKey);
  const same = toKey === transitKey && toMount === transitMount;
  const to = same ? from : keyServer.transit(toMount, toKey);
  return { from, to, alike: !same && toKey === transitKey };
}

const isComplete = (
  { keyName, keyVersion }: TargetKeys,
  { uses, counts }: RewrapTally,
  { count }: Faults,
): boolean =>
  count === 0 &&
  counts.pending === 0 &&
  uses.every((use) => use.keyName === keyName && use.keyVersion >= keyVersion);

interface Run extends InPlaceRun<RewrapCounts, RewrapSettings> {
  readonly target: TargetKeys;
  readonly tally: RewrapTally;
}

async function rewrapAll(run: Run): Promise<void> {
  const { call, place, settings, objects, target, tally } = run;
  const { bucket } = place;
  const { dryRun } = call;
  const { upstream, manifests, rewraps: records } = objects;
  const versioned = (await objects.buckets.keepsVersionsNow(bucket)) !== 'no';
  const intoHeaders = !versioned && !dryRun && (await mayCopy(run));
  const outOfRecords = intoHeaders && settings.into === 'headers';
  const tools = { bucket, upstream, manifests, records, target, intoHeaders, outOfRecords, dryRun };
  await workInPlace(run, versioned, tally.counts, async (version, signal) => {
    tally.add(await rewrapObject(tools, version, signal), version.latest);
  });
  await countUploads(run);
}

/**
 * Proxies learn of another key only after its objects have it; until then they must find the old keys in the headers.
 */
async function mayCopy({ place, settings, objects, call }: Run): Promise<boolean> {
  const { into, toKey, toMount, reservedPrefix, transitKey, transitMount } = settings;
  const moves = (toKey ?? transitKey) !== transitKey || (toMount ?? transitMount) !== transitMount;
  if (into === 'records' || (into === 'auto' && moves)) return false;
  const probe = rewrapRecordKey(
    reservedPrefix,
    { bucket: place.bucket, key: '' },
    'probe-of-copy-conditions',
  );
  const keeps = await keepsConditions(objects.upstream, { bucket: place.bucket, key: probe }, call.signal);
  if (keeps || into === 'auto') return keeps;
  throw new SvcError(
    'REWRAP_UNSAFE',
    'The object store does not enforce conditions on copies, so headers cannot be replaced safely while others write',
    { nextStep: 'Leave --into out: the keys then go into records.', exitStatus: exitStatus.config },
  );
}

/** Objects of open uploads will need the key version that was the latest when the upload was created. */
async function countUploads({ place, settings, objects, target, tally }: Run): Promise<void> {
  const { bucket, prefix } = place;
  for await (const ids of objects.contents.openUploads(bucket))
    for (const id of ids) {
      const text = await objects.state.get(bucket, createRecordKey(settings.reservedPrefix, id), recordLimit);
      if (text === undefined) continue;
      const { key, keyName, keyVersion } = readUploadRecord(text);
      if (!key.startsWith(prefix)) continue;
      if (keyName !== target.keyName || keyVersion < target.keyVersion)
        tally.need({ keyName, keyVersion }, 'uploads');
    }
}

const recordLimit = 64 * 1024;
