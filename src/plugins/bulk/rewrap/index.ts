import { vaultRules } from '../../../keyserver/settings.ts';
import { createRecordKey } from '../../../objects/format/records.ts';
import { rewrapRecordKey } from '../../../objects/format/rewrap-record.ts';
import { readUploadRecord } from '../../../objects/multipart/upload-record.ts';
import { storeOf } from '../../../objects/upstream/store-settings.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { createLogger } from '../../../runtime/logging/create-logger.ts';
import { resolveSettings, type Sources } from '../../../runtime/settings/resolve.ts';
import { eachOf, endOf, type Fault, Faults, placeOf, type RunPlace } from '../bulk-run.ts';
import { type ListedVersion, listAll, nameOf } from './list-versions.ts';
import { openStores, type RewrapStores } from './open-stores.ts';
import { again, type NeededKey, rewrapObject } from './rewrap-object.ts';
import { keepsConditions } from './self-copy.ts';
import { rewrapSettings } from './settings.ts';
import { type KeyUse, type RewrapCounts, RewrapTally } from './tally.ts';
import { openTarget, type TargetKeys } from './target-keys.ts';

export interface RewrapCall {
  readonly sources: Sources & { readonly env: Readonly<Record<string, string | undefined>> };
  /** `s3://bucket` or `s3://bucket/prefix`. */
  readonly at: string;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** Called now and then with the current counts. */
  readonly onProgress: (counts: RewrapCounts) => void;
}

export interface RewrapReport extends RewrapCounts {
  readonly bucket: string;
  readonly prefix: string;
  readonly dryRun: boolean;
  /** The key that is to wrap all data keys. */
  readonly target: NeededKey & { readonly mount: string };
  /** Reasons for which keys went into records although headers were allowed, with counts. */
  readonly recordedBecause: Readonly<Record<string, number>>;
  /** Key versions needed to read everything seen, after this run. */
  readonly keyVersions: readonly KeyUse[];
  readonly faults: readonly Fault[];
  readonly faultCount: number;
  readonly faultsByReason: Readonly<Record<string, number>>;
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
export async function rewrapObjects(call: RewrapCall): Promise<RewrapReport> {
  const place = placeOf(call.at, 'rewrap');
  const settings = resolveSettings(rewrapSettings, call.sources, (config) =>
    vaultRules.flatMap((rule) => rule(config) ?? []),
  );
  const { host } = storeOf(settings).upstream;
  const log = await createLogger({ component: 'proxy-rewrap', level: 'error' });
  const stores = openStores(settings, call.sources.env, log);
  const faults = new Faults();
  const tally = new RewrapTally();
  let complete = false;
  let endedBy: Error | undefined;
  try {
    const target = await openTarget(stores.transits, stores.records, call.signal);
    try {
      await rewrapAll({ call, place, settings, stores, target, faults, tally });
      complete = isComplete(target, tally, faults);
    } catch (error) {
      // an interruption is not a fault, and results so far are still reported
      if (!call.signal.aborted) endedBy = endOf(error, 'rewrap', host, place.bucket);
    }
    const { keyName, keyVersion } = target;
    const { listed, count, byReason } = faults;
    return {
      ...{ ...place, ...tally.counts, dryRun: call.dryRun, complete, endedBy },
      target: { mount: settings.toMount ?? settings.transitMount, keyName, keyVersion },
      ...{ recordedBecause: tally.because, keyVersions: tally.uses },
      ...{ faults: listed, faultCount: count, faultsByReason: byReason },
    };
  } finally {
    await stores.close();
  }
}

const isComplete = (
  { keyName, keyVersion }: TargetKeys,
  { uses, counts }: RewrapTally,
  { count }: Faults,
): boolean =>
  count === 0 &&
  counts.pending === 0 &&
  uses.every((use) => use.keyName === keyName && use.keyVersion >= keyVersion);

interface Run {
  readonly call: RewrapCall;
  readonly place: RunPlace;
  readonly settings: Parameters<typeof openStores>[0];
  readonly stores: RewrapStores;
  readonly target: TargetKeys;
  readonly faults: Faults;
  readonly tally: RewrapTally;
}

async function rewrapAll(run: Run): Promise<void> {
  const { call, place, settings, stores, target, faults, tally } = run;
  const { bucket } = place;
  const { upstream, manifests, records } = stores;
  const versioned = (await stores.buckets.keepsVersionsNow(bucket)) !== 'no';
  const intoHeaders = !versioned && !call.dryRun && (await mayCopy(run));
  const outOfRecords = intoHeaders && settings.into === 'headers';
  const shared = { bucket, upstream, manifests, records, target };
  const tools = { ...shared, intoHeaders, outOfRecords, dryRun: call.dryRun };
  for await (const page of listed(run, versioned)) {
    tally.counts.listed += page.length;
    await eachOf(page, settings.concurrency, call.signal, async (version, signal) => {
      try {
        const result = await again(() => rewrapObject(tools, version, signal), signal);
        tally.add(result, version.latest);
        faults.succeeded();
      } catch (error) {
        signal.throwIfAborted();
        faults.add(nameOf(version), error);
      }
      tally.counts.seen++;
      call.onProgress(tally.counts);
    });
  }
  await countUploads(run);
}

/**
 * Proxies learn of another key only after its objects have it; until then they must find the old keys in the headers.
 */
async function mayCopy({ place, settings, stores, call }: Run): Promise<boolean> {
  const { into, toKey, toMount, reservedPrefix, transitKey, transitMount } = settings;
  const moves = (toKey ?? transitKey) !== transitKey || (toMount ?? transitMount) !== transitMount;
  if (into === 'records' || (into === 'auto' && moves)) return false;
  const probe = rewrapRecordKey(
    reservedPrefix,
    { bucket: place.bucket, key: '' },
    'probe-of-copy-conditions',
  );
  const keeps = await keepsConditions(stores.upstream, { bucket: place.bucket, key: probe }, call.signal);
  if (keeps || into === 'auto') return keeps;
  throw new SvcError(
    'REWRAP_UNSAFE',
    'The object store does not enforce conditions on copies, so headers cannot be replaced safely while others write',
    { nextStep: 'Leave --into out: the keys then go into records.', exitStatus: exitStatus.config },
  );
}

async function* listed(
  { call, place, settings, stores }: Run,
  versioned: boolean,
): AsyncGenerator<ListedVersion[]> {
  const { upstream } = stores;
  const attempt = <T>(request: () => Promise<T>) => again(request, call.signal);
  const isOthers = ({ key }: { readonly key: string }) => !key.startsWith(settings.reservedPrefix);
  for await (const page of listAll(upstream, attempt, { ...place, versioned }, call.signal))
    yield page.filter(isOthers);
}

/** Objects of open uploads will need the key version that was the latest when the upload was created. */
async function countUploads({ place, settings, stores, target, tally }: Run): Promise<void> {
  const { bucket, prefix } = place;
  for await (const ids of stores.state.openUploads(bucket))
    for (const id of ids) {
      const text = await stores.state.get(bucket, createRecordKey(settings.reservedPrefix, id), recordLimit);
      if (text === undefined) continue;
      const { key, keyName, keyVersion } = readUploadRecord(text);
      if (!key.startsWith(prefix)) continue;
      if (keyName !== target.keyName || keyVersion < target.keyVersion)
        tally.need({ keyName, keyVersion }, 'uploads');
    }
}

const recordLimit = 64 * 1024;
