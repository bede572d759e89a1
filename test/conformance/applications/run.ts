import { setTimeout as sleep } from 'node:timers/promises';
import { HeadObjectCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3';
import { logLines } from '../../support/log-lines.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import type { ObjectStore } from '../../support/types.ts';
import type { Application } from './application.ts';
import type { ApplicationBed, Traffic, Way } from './bed.ts';
import { type ApplicationOutcome, rounded } from './compare.ts';

/** The proxy tidies up behind some answers. */
const settleMs = 500;

export interface Tried {
  readonly outcome: ApplicationOutcome;
  /** What went wrong, or figures. */
  readonly detail: string;
}

/** Runs an application against the bare store and through the proxy, each time in a bucket of its own. */
export async function runTwice(application: Application, bed: ApplicationBed): Promise<Tried> {
  const bare = await runAtStore(application, bed);
  if (bare.error !== undefined) return { outcome: { result: 'fails at the store too' }, detail: bare.error };
  const proxied = await runOnce(application, bed, 'proxy');
  if (proxied.error !== undefined) return { outcome: { result: 'fails' }, detail: proxied.error };
  const bytes = rounded(proxied.bytes / bare.bytes);
  const requests = rounded(proxied.requests / bare.requests);
  const detail = [differences(bare, proxied), ...(proxied.events ?? [])].join('\n');
  return { outcome: { result: 'passes', bytes, requests }, detail };
}

/** Once more if it fails: what fails without the proxy is the program's own doing, such as a crash at its exit. */
async function runAtStore(application: Application, bed: ApplicationBed): Promise<Once> {
  const first = await runOnce(application, bed, 'bare');
  return first.error === undefined ? first : runOnce(application, bed, 'bare', '-again');
}

/** Which kinds of requests make the difference. */
function differences(bare: Traffic, proxied: Traffic): string {
  const names = [...new Set([...Object.keys(bare.kinds), ...Object.keys(proxied.kinds)])].sort();
  const line = (name: string, one: Counts, other: Counts) =>
    `  ${name}: ${other.requests} of ${one.requests} requests, ${other.bytes} of ${one.bytes} bytes`;
  const none = { bytes: 0, requests: 0 };
  return [
    line('all', bare, proxied),
    ...names.map((name) => line(name, bare.kinds[name] ?? none, proxied.kinds[name] ?? none)),
  ].join('\n');
}

type Counts = Pick<Traffic, 'bytes' | 'requests'>;

interface Once extends Traffic {
  readonly error?: string;
  readonly events?: readonly string[];
}

/** What the proxy found worth a warning, each kind once. */
function unusualEvents(output: string): string[] {
  const unusual = logLines(output).filter(({ level }) => level === 'warn' || level === 'error');
  return [...new Set(unusual.map(({ level, event, error = '' }) => `  ${level} ${event} ${error}`))];
}

async function runOnce(
  { name, tls = false, run }: Application,
  bed: ApplicationBed,
  way: Way,
  suffix = '',
): Promise<Once> {
  const bucket = `${name}-${way}${suffix}`;
  await bed.store.createBucket(bucket);
  const target = await bed.target(way, tls);
  const folder = temporaryFolder(bucket);
  const before = bed.output().length;
  try {
    await run({ target, bucket, folder: folder.path });
    await sleep(settleMs);
    const traffic = bed.traffic(bucket);
    if (way === 'proxy') await assertSealed(bed.store, bucket);
    return { ...traffic, events: unusualEvents(bed.output().slice(before)) };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const log = way === 'proxy' ? `\nthe proxy's log:\n${bed.output().slice(before).slice(-3000)}` : '';
    return { error: `${text}${log}`, ...bed.traffic(bucket) };
  } finally {
    await folder.remove();
  }
}

/** Every object that the application left carries the envelope's metadata. @throws Error naming one that does not */
async function assertSealed(store: ObjectStore, Bucket: string): Promise<void> {
  for await (const { Contents = [] } of paginateListObjectsV2({ client: store.client }, { Bucket })) {
    for (const { Key = '' } of Contents.filter(({ Key }) => !Key?.startsWith('.svc/'))) {
      const { Metadata = {} } = await store.client.send(new HeadObjectCommand({ Bucket, Key }));
      if (Metadata['svc-encrypted'] !== 'true') throw new Error(`${Key} is not encrypted in the store`);
    }
  }
}
