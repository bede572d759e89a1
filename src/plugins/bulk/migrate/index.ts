import { createDataKeys } from '../../../objects/keys/data-keys.ts';
import type { OpenObjects } from '../../../objects/open-objects.ts';
import { storeOf } from '../../../objects/upstream/store-settings.ts';
import { Budget } from '../../../runtime/bounds/budget.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { createLogger } from '../../../runtime/logging/create-logger.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { resolveSettings } from '../../../runtime/settings/resolve.ts';
import { type FaultReport, Faults } from '../engine/faults.ts';
import { type InPlaceCall, type InPlaceRun, workInPlace } from '../engine/in-place.ts';
import { type OpenKeyServer, openBulkObjects, openKeyServer } from '../engine/open-objects.ts';
import { type Env, earlyEnd, placeOf } from '../engine/run.ts';
import { keyErrors } from '../engine/settings.ts';
import { endOf } from '../engine/store-failure.ts';
import { type Unconditional, unconditionalWrites } from '../engine/write-conditions.ts';
import { type MigrateTools, migrateObject } from './migrate-object.ts';
import { type MigrateSettings, migrateSettings } from './settings.ts';
import { type MigrateCounts, type MigrateEstimate, MigrateTally } from './tally.ts';

export interface MigrateCall extends InPlaceCall<MigrateCounts> {
  /** The operator asserts that nobody else writes, so a store without conditional writes will do. */
  readonly nobodyWrites: boolean;
}

export interface MigrateReport extends MigrateCounts, FaultReport {
  readonly bucket: string;
  readonly prefix: string;
  readonly dryRun: boolean;
  /** Minimum format of stored objects. */
  readonly format: 1 | 2;
  readonly versioned: boolean;
  /** Writes for which the store ignores conditions; `undefined` in a dry run, which does not test them. */
  readonly unconditional: readonly Unconditional[] | undefined;
  readonly estimate: MigrateEstimate | undefined;
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
  const settings = resolveSettings(migrateSettings, call.sources, keyErrors);
  const log = createLogger({ component: 'proxy-migrate', level: 'error' });
  const keyServer = openKeyServer('migrate', settings, log);
  const objects = openForWriting(settings, keyServer, call.sources.env, log);
  const run: Run = { call, place, settings, objects, faults: new Faults(), found: {} };
  const { host } = storeOf(settings).upstream;
  try {
    const endedBy = await earlyEnd(
      () => migrateAll(run),
      call.signal,
      (error) => endOf(error, 'migrate', { host, bucket: place.bucket }),
    );
    return reportOf(run, endedBy);
  } finally {
    objects.close();
    await keyServer.close();
  }
}

function openForWriting(
  settings: MigrateSettings,
  keyServer: OpenKeyServer,
  env: Env,
  log: Logger,
): OpenObjects {
  const { upstreamSigning, upstreamChecksum, bind, recoveryRecipients = [] } = settings;
  const scheme = { binding: bind, requireBound: false };
  const keys = createDataKeys(keyServer.transit(settings.transitMount, settings.transitKey), scheme);
  const format = settings.format === '2' ? 2 : 1;
  return openBulkObjects(settings, keys, env, log, {
    ...{ upstreamSigning, upstreamChecksum, format, recoveryRecipients, ...scheme },
  });
}

interface Run extends InPlaceRun<MigrateCounts, MigrateSettings> {
  readonly call: MigrateCall;
  /** What the run found out about bucket and store. */
  readonly found: { tally?: MigrateTally; versioned?: boolean; unconditional?: readonly Unconditional[] };
}

/** Plaintext held at a time, over all objects; an object of the part size always fits. */
const memoryBytes = 64 * 1024 ** 2;

async function migrateAll(run: Run): Promise<void> {
  const { call, place, settings, objects, found } = run;
  const { bucket } = place;
  const versioned = (await objects.buckets.keepsVersionsNow(bucket)) !== 'no';
  const { format } = objects.config;
  const locked = await objects.buckets.locked(bucket);
  const tally = new MigrateTally({ format, partSize: settings.partSize, locked, versioned });
  Object.assign(found, { tally, versioned });
  if (!call.dryRun) found.unconditional = await checkedConditions(run);
  const conditional = (found.unconditional ?? []).length === 0;
  const { partSize } = settings;
  const memory = new Budget(Math.max(partSize, memoryBytes));
  const tools: MigrateTools = {
    services: objects,
    bucket,
    conditional,
    partSize,
    memory,
    dryRun: call.dryRun,
  };
  await workInPlace(run, versioned, tally.counts, async (version, signal, attempt) => {
    tally.add(await migrateObject(tools, version, signal, attempt > 1));
  });
}

/** @throws SvcError MIGRATE_UNSAFE */
async function checkedConditions({ call, place, settings, objects }: Run): Promise<readonly Unconditional[]> {
  const helper = { bucket: place.bucket, key: `${settings.reservedPrefix}migrate/probe-of-write-conditions` };
  const unconditional = await unconditionalWrites(objects.upstream, helper, call.signal);
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

function reportOf(run: Run, endedBy: Error | undefined): MigrateReport {
  const { call, place, objects, faults, found } = run;
  const { format } = objects.config;
  const { versioned = false, unconditional } = found;
  const tally = found.tally ?? new MigrateTally({ format, partSize: 0, locked: false, versioned });
  const { counts } = tally;
  const whole = endedBy === undefined && !call.signal.aborted;
  return {
    ...{ ...place, ...counts, dryRun: call.dryRun, format, versioned, unconditional },
    estimate: call.dryRun ? tally.estimate : undefined,
    ...{ ...faults.report, endedBy },
    complete: whole && faults.count === 0 && counts.pending === 0 && counts.left === 0,
  };
}
