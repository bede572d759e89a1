import { vaultRules } from '../../../keyserver/settings.ts';
import { s3Error } from '../../../objects/s3/error.ts';
import { storeOf } from '../../../objects/upstream/store-settings.ts';
import { Budget } from '../../../runtime/bounds/budget.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { createLogger } from '../../../runtime/logging/create-logger.ts';
import { resolveSettings, type Sources } from '../../../runtime/settings/resolve.ts';
import { eachOf, endOf, type Fault, Faults, placeOf, type RunPlace } from '../bulk-run.ts';
import { type ListedVersion, listAll, nameOf } from '../rewrap/list-versions.ts';
import { again } from '../rewrap/rewrap-object.ts';
import { type MigrateTools, migrateObject } from './migrate-object.ts';
import { type MigrateServices, openServices } from './open-services.ts';
import { type MigrateSettings, migrateSettings } from './settings.ts';
import { type MigrateCounts, type MigrateEstimate, MigrateTally } from './tally.ts';
import { type Unconditional, unconditionalWrites } from './write-conditions.ts';

export interface MigrateCall {
  readonly sources: Sources & { readonly env: Readonly<Record<string, string | undefined>> };
  /** `s3://bucket` or `s3://bucket/prefix`. */
  readonly at: string;
  readonly dryRun: boolean;
  /** The operator asserts that nobody else writes, so a store without conditional writes will do. */
  readonly nobodyWrites: boolean;
  readonly signal: AbortSignal;
  /** Called now and then with the current counts. */
  readonly onProgress: (counts: MigrateCounts) => void;
}

export interface MigrateReport extends MigrateCounts {
  readonly bucket: string;
  readonly prefix: string;
  readonly dryRun: boolean;
  /** Minimum format of stored objects. */
  readonly format: 1 | 2;
  readonly versioned: boolean;
  /** Writes for which the store ignores conditions; `undefined` in a dry run, which does not test them. */
  readonly unconditional: readonly Unconditional[] | undefined;
  readonly estimate: MigrateEstimate | undefined;
  readonly faults: readonly Fault[];
  readonly faultCount: number;
  readonly faultsByReason: Readonly<Record<string, number>>;
  /** Every object seen, older versions included, is stored as it should be. */
  readonly complete: boolean;
  /** The error that ended the run early. */
  readonly endedBy: Error | undefined;
}

/**
 * Encrypts objects in place, or converts them from format 1 to format 2. No state is kept between runs: the store
 * itself shows what is done.
 * @throws SvcError if the run cannot start: CONFIG_INVALID, MIGRATE_USAGE; VaultError
 */
export async function migrateObjects(call: MigrateCall): Promise<MigrateReport> {
  const place = placeOf(call.at, 'migrate');
  const settings = resolveSettings(migrateSettings, call.sources, (config) =>
    vaultRules.flatMap((rule) => rule(config) ?? []),
  );
  const log = await createLogger({ component: 'proxy-migrate', level: 'error' });
  const services = openServices(settings, call.sources.env, log);
  const run: Run = { call, place, settings, services, faults: new Faults(), found: {} };
  let endedBy: Error | undefined;
  let whole = false;
  try {
    await migrateAll(run);
    whole = true;
  } catch (error) {
    // an interruption is not a fault, and results so far are still reported
    if (!call.signal.aborted)
      endedBy = endOf(error, 'migrate', storeOf(settings).upstream.host, place.bucket);
  } finally {
    await services.end();
  }
  return reportOf(run, whole, endedBy);
}

interface Run {
  readonly call: MigrateCall;
  readonly place: RunPlace;
  readonly settings: MigrateSettings;
  readonly services: MigrateServices;
  readonly faults: Faults;
  /** What the run found out about bucket and store. */
  readonly found: { tally?: MigrateTally; versioned?: boolean; unconditional?: readonly Unconditional[] };
}

/** Plaintext held at a time, over all objects; an object of the part size always fits. */
const memoryBytes = 64 * 1024 ** 2;

async function migrateAll(run: Run): Promise<void> {
  const { call, place, settings, services, faults, found } = run;
  const { bucket } = place;
  const versioned = (await services.buckets.keepsVersionsNow(bucket)) !== 'no';
  const { format } = services.config;
  const locked = await services.buckets.locked(bucket);
  const tally = new MigrateTally({ format, partSize: settings.partSize, locked, versioned });
  Object.assign(found, { tally, versioned });
  if (!call.dryRun) found.unconditional = await checkedConditions(run);
  const conditional = (found.unconditional ?? []).length === 0;
  const { partSize, concurrency } = settings;
  const memory = new Budget(Math.max(partSize, memoryBytes));
  const tools: MigrateTools = { services, bucket, conditional, partSize, memory, dryRun: call.dryRun };
  for await (const page of listed(run, versioned)) {
    tally.counts.listed += page.length;
    await eachOf(page, concurrency, call.signal, async (version, signal) => {
      try {
        tally.add(await again((count) => migrateObject(tools, version, signal, count > 1), signal));
        faults.succeeded();
      } catch (error) {
        signal.throwIfAborted();
        faults.add(nameOf(version), error);
      }
      tally.counts.seen++;
      call.onProgress(tally.counts);
    });
  }
}

/** @throws SvcError MIGRATE_UNSAFE */
async function checkedConditions({
  call,
  place,
  settings,
  services,
}: Run): Promise<readonly Unconditional[]> {
  const helper = { bucket: place.bucket, key: `${settings.reservedPrefix}migrate/probe-of-write-conditions` };
  const unconditional = await unconditionalWrites(services.upstream, helper, call.signal);
  if (unconditional.length === 0 || call.nobodyWrites) return unconditional;
  throw new SvcError(
    'MIGRATE_UNSAFE',
    `The object store does not enforce conditions on ${unconditional.join(' and ')}: concurrent writes could be lost`,
    {
      nextStep: 'Stop all writers of these objects, and confirm it with --nobody-writes.',
      exitStatus: exitStatus.config,
    },
  );
}

async function* listed(
  { call, place, settings, services }: Run,
  versioned: boolean,
): AsyncGenerator<ListedVersion[]> {
  const { upstream } = services;
  const attempt = <T>(request: () => Promise<T>) => again(request, call.signal);
  const isOthers = ({ key }: { readonly key: string }) => {
    if (!key.startsWith(place.prefix)) throw strayed();
    return !key.startsWith(settings.reservedPrefix);
  };
  for await (const page of listAll(upstream, attempt, { ...place, versioned }, call.signal))
    yield page.filter(isOthers);
}

/** A store that lists objects outside the requested prefix must not have them replaced. */
const strayed = () =>
  s3Error('InternalError', 'A listing of the object store names objects that it was not asked for.');

function reportOf(run: Run, whole: boolean, endedBy: Error | undefined): MigrateReport {
  const { call, place, services, faults, found } = run;
  const { format } = services.config;
  const { versioned = false, unconditional } = found;
  const tally = found.tally ?? new MigrateTally({ format, partSize: 0, locked: false, versioned });
  const { counts } = tally;
  const { listed, count, byReason } = faults;
  return {
    ...{ ...place, ...counts, dryRun: call.dryRun, format, versioned, unconditional },
    estimate: call.dryRun ? tally.estimate : undefined,
    ...{ faults: listed, faultCount: count, faultsByReason: byReason, endedBy },
    complete: whole && count === 0 && counts.pending === 0 && counts.left === 0,
  };
}
