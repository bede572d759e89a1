import { execFile } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { concurrently } from '../../src/runtime/lifecycle/wait.ts';
import { audit, beginMigrate, type MigrateResult } from '../plugins/bulk/migrate/migrating.ts';
import { type MeddlingStore, startMeddlingStore } from '../support/meddling-store.ts';
import { peakUntilEnd } from '../support/process-memory.ts';
import type { Part, Report } from './part.ts';
import { inMib } from './support/figures.ts';
import { Bucket, type RealBed, startRealBed } from './support/real-bed.ts';

const fewest = 1_000;
const atOnce = 32;
/** At which share of the objects the command is killed. */
const kills = [0.2, 0.45, 0.7];
/** What it may hold in memory. Bytes. */
const memoryBound = 400 * 1024 ** 2;
/** Of 100,000 objects, whose keys are all unwrapped. */
const longestAuditMs = 20 * 60_000;
/** In every plaintext. */
const marker = 'plaintext-of-the-migration';

/** A bucket of small plaintext objects, migrated beside a writer, with three kills: nothing lost, nothing plaintext. */
export const migrate: Part = {
  name: 'migrate',
  summary: 'svc proxy migrate of 100,000 objects beside a writer, killed three times',
  async run(report, { objects = 100_000 }) {
    if (objects < fewest)
      throw new Error(`--objects takes at least ${count(fewest)}, to be killed on the way`);
    const bed = await startRealBed();
    const relay = await startMeddlingStore(bed.store.endpoint);
    try {
      await fill(report, bed.store.client, objects);
      const writer = new Writer(bed.s3, objects);
      await migrateBeside(report, { bed, relay, writer }, objects);
      await checkAll(report, bed, writer, objects);
    } finally {
      await relay.stop();
      await bed.stop();
    }
  },
};

const keyOf = (index: number) => `objects/${String(index).padStart(7, '0')}`;

const bodyOf = (index: number, text = 'first') =>
  Buffer.from(`${marker} ${index} ${text}\n`.repeat(1 + (index % 20)));

async function fill(report: Report, client: S3Client, objects: number): Promise<void> {
  const begun = performance.now();
  const indexes = Array.from({ length: objects }, (_, index) => index);
  await concurrently(indexes, atOnce, async (index) => {
    await client.send(new PutObjectCommand({ Bucket, Key: keyOf(index), Body: bodyOf(index) }));
  });
  const seconds = (performance.now() - begun) / 1_000;
  report.say(`${count(objects)} plaintext objects in ${seconds.toFixed(0)} s`);
}

/** Replaces objects through the proxy, all over the bucket, until it is ended. */
class Writer {
  readonly #client: S3Client;
  readonly #objects: number;
  readonly last = new Map<number, Buffer>();
  writes = 0;
  #running: Promise<void> | undefined;
  #ended = false;

  constructor(client: S3Client, objects: number) {
    this.#client = client;
    this.#objects = objects;
  }

  begin(): void {
    this.#running = this.#run();
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // a stride that has no divisor with round numbers meets objects before and behind the command
    for (let turn = 0; !this.#ended; turn++) {
      const index = (turn * 7_919) % this.#objects;
      const body = bodyOf(index, `write ${turn}`);
      await this.#client.send(new PutObjectCommand({ Bucket, Key: keyOf(index), Body: body }));
      this.last.set(index, body);
      this.writes++;
    }
  }
}

interface Setting {
  readonly bed: RealBed;
  readonly relay: MeddlingStore;
  readonly writer: Writer;
}

async function migrateBeside(
  report: Report,
  { bed, relay, writer }: Setting,
  objects: number,
): Promise<void> {
  let written = 0;
  let refused = 0;
  relay.meddle({
    after({ method, path, headers }, answer) {
      if (method !== 'PUT' || headers['if-match'] === undefined || path.includes('/.svc/')) return answer;
      if (answer.status === 200) written++;
      else refused++;
      return answer;
    },
  });
  const setting = { store: { ...bed.store, endpoint: relay.url }, vault: bed.vault };
  const begin = () => beginMigrate(setting, `s3://${Bucket}`, '--json');
  writer.begin();
  const begun = performance.now();
  try {
    for (const share of kills) {
      const child = await begin();
      await peakUntilEnd(child, () => written >= share * objects);
      await child.end('SIGKILL');
      report.say(`killed after ${count(written)} objects, with ${count(writer.writes)} writes beside`);
    }
    const child = await begin();
    const peak = await peakUntilEnd(child);
    const seconds = (performance.now() - begun) / 1_000;
    const result: MigrateResult = JSON.parse(child.logs());
    const { migrated, current, faultCount, complete, replaced } = result;
    report.check(
      'the last run ends with everything encrypted',
      complete && faultCount === 0,
      `${count(result.listed)} listed, ${count(faultCount)} faults`,
    );
    report.check(
      'it has gone on where the others were',
      current > 0.6 * objects && migrated > 0,
      `${count(current)} already done, ${count(migrated)} migrated`,
    );
    report.check('the writer was beside all of it', writer.writes > 0, count(writer.writes));
    report.check(`resident memory stays below ${inMib(memoryBound)}`, peak < memoryBound, inMib(peak));
    report.say(
      `${count(objects)} objects in ${seconds.toFixed(0)} s and four runs (${count(Math.round(written / seconds))} a second), ` +
        `${count(written)} written, ${count(refused)} writes refused because somebody had come first, ${count(replaced)} replaced right after`,
    );
  } finally {
    await writer.end();
  }
}

async function checkAll(report: Report, bed: RealBed, writer: Writer, objects: number): Promise<void> {
  let wrong = 0;
  const indexes = Array.from({ length: objects }, (_, index) => index);
  await concurrently(indexes, atOnce, async (index) => {
    const { Body } = await bed.s3.send(new GetObjectCommand({ Bucket, Key: keyOf(index) }));
    const read = Buffer.from((await Body?.transformToByteArray()) ?? []);
    if (!read.equals(writer.last.get(index) ?? bodyOf(index))) wrong++;
  });
  report.check(
    'every object is what was written last',
    wrong === 0,
    `${count(wrong)} of ${count(objects)} are not`,
  );
  const plaintext = await filesWith(marker, bed.store.dataDir);
  report.check('no file of the store holds plaintext', plaintext === 0, count(plaintext));
  const audited = await audit({ store: bed.store, vault: bed.vault }, '', {
    bucket: Bucket,
    timeoutMs: longestAuditMs,
  });
  report.check(
    'svc audit --bucket --fail-on error passes',
    audited.status === 0,
    `${audited.stdout}\n${audited.stderr}`.trim().split('\n').at(-1) ?? '',
  );
}

async function filesWith(text: string, folder: string): Promise<number> {
  const found = promisify(execFile)('grep', ['-rlF', text, folder], { maxBuffer: 64 * 1024 ** 2 });
  const names = await found.then(
    ({ stdout }) => stdout.trim().split('\n').length,
    (error: { code?: unknown }) => {
      // it ends with 1 where there is none
      if (error.code === 1) return 0;
      throw error;
    },
  );
  return names;
}

const count = (number: number) => number.toLocaleString('en');
