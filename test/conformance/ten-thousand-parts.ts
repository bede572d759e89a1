import { HeadObjectCommand, type Part as ListedPart, ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { Part, Report } from './part.ts';
import { inMib, residentBound } from './support/figures.ts';
import { readObject } from './support/read-object.ts';
import { type Bed, Bucket, startBed } from './ten-thousand-parts/bed.ts';
import { copiedParts } from './ten-thousand-parts/copied-parts.ts';
import {
  complete,
  Key,
  listParts,
  partCount,
  sizeOf,
  starts,
  type Uploaded,
  upload,
  whole,
} from './ten-thousand-parts/large-upload.ts';
import { oneRange, type Range, ranges } from './ten-thousand-parts/ranges.ts';
import { requestsOf, Stages } from './ten-thousand-parts/stages.ts';
import { stageTables } from './ten-thousand-parts/tables.ts';

type Format = '1' | '2';

/** One object of 10,000 small parts in each format: as it is, and once more with a relay on each side that counts requests; at last one whose parts the store copies. */
export const tenThousandParts: Part = {
  name: 'ten-thousand-parts',
  summary: 'one upload of 10,000 parts, read back whole and by ranges, and what it costs in requests',
  async run(report) {
    for (const format of ['1', '2'] as const) {
      await life(report, format, false);
      await life(report, format, true);
    }
    await copiedParts(report);
  },
};

async function life(report: Report, format: Format, counted: boolean): Promise<void> {
  const what = `${partCount} parts, ${inMib(whole.length)}, format ${format}`;
  report.say(counted ? 'The same, counted:' : `${what}:`);
  const bed = await startBed(counted, ['--format', format]);
  const stages = new Stages(bed);
  try {
    const uploaded = await stages.run('upload', () => upload(bed.s3));
    const pages = await stages.run('list parts', () => listParts(bed.s3, uploaded.UploadId));
    checkListing(report, pages, uploaded);
    const etag = await stages.run('complete', () => complete(bed.s3, uploaded));
    const { body } = await stages.run('whole read', () => readObject(bed.s3, Bucket, Key));
    report.check('the whole object reads back', body.equals(whole), inMib(body.length));
    await bed.restart();
    await stages.run('first range', () => checkRange(report, bed, oneRange));
    await stages.run('next range', () => checkRange(report, bed, oneRange));
    await checkRest(report, bed, uploaded, etag);
    report.say(`\n${stageTables(stages.all)}\n`);
    if (counted) checkCosts(report, stages, bounds[format]);
    else checkMemory(report, stages);
  } finally {
    await bed.stop();
  }
}

function checkListing(report: Report, pages: readonly ListedPart[][], { etags }: Uploaded): void {
  const all = pages.flat();
  const right = all.every(
    ({ PartNumber = 0, Size, ETag }, index) =>
      PartNumber === index + 1 && Size === sizeOf(PartNumber) && ETag === etags[index],
  );
  const detail = `${pages.length} pages of ${pages[0]?.length} parts`;
  report.check(
    'ListParts gives every part with its plaintext size',
    right && all.length === partCount,
    detail,
  );
}

async function checkRange(report: Report, { s3 }: Bed, { what, bytes, from, to }: Range): Promise<void> {
  const { body, range } = await readObject(s3, Bucket, Key, { Range: `bytes=${bytes}` });
  const same = body.equals(whole.subarray(from, to));
  report.check(
    `a range reads back: ${what}`,
    same && range === `bytes ${from}-${to - 1}/${whole.length}`,
    range,
  );
}

async function checkRest(
  report: Report,
  bed: Bed,
  uploaded: Uploaded,
  etag: string | undefined,
): Promise<void> {
  for (const range of ranges) await checkRange(report, bed, range);
  const one = await readObject(bed.s3, Bucket, Key, { PartNumber: 4711 });
  const part = whole.subarray(starts[4710], starts[4711]);
  report.check('one part reads back by its number', one.body.equals(part) && one.parts === partCount);
  const head = await bed.s3.send(new HeadObjectCommand({ Bucket, Key }));
  report.check(
    'HEAD gives plaintext size and ETag',
    head.ContentLength === whole.length && head.ETag === etag,
    etag,
  );
  report.check('a repeated Complete answers the same', (await complete(bed.s3, uploaded)) === etag);
  await checkRecords(report, bed);
}

/** What completing leaves in the store beside the object: the manifest, and what it needs to answer once more. */
async function checkRecords(report: Report, { behind }: Bed): Promise<void> {
  const listed = await behind.send(new ListObjectsV2Command({ Bucket, Prefix: '.svc/' }));
  const keys = (listed.Contents ?? []).map((object) => object.Key ?? '');
  const manifests = keys.filter((key) => key.startsWith('.svc/manifests/'));
  const right = manifests.length === 1 && keys.length <= 2 && !listed.IsTruncated;
  report.check('the records of the parts are gone', right, `${keys.length} helper objects are left`);
}

function checkMemory(report: Report, { all }: Stages): void {
  const peak = Math.max(...all.map((stage) => stage.peak));
  const what = `the proxy stays within ${inMib(residentBound)} of resident memory`;
  report.check(what, peak <= residentBound, `peak ${inMib(peak)}`);
}

type Bound = readonly [stage: string, store: number, keyServer: number];

/**
 * A request a part for the data, one for its record, one to the key server. Format 2 has one key for all parts; what is asked for
 * beside it is the proxy's own look at the key server now and then.
 */
const bounds: Readonly<Record<Format, readonly Bound[]>> = {
  1: [
    ['upload', 2 * partCount + 10, partCount + 5],
    ['complete', 60, 5],
    // what is wanted of all parts at once comes in batches
    ['whole read', 5, partCount / 50],
    ['first range', 4, 3],
    ['next range', 2, 1],
  ],
  2: [
    ['upload', 2 * partCount + 10, 10],
    ['complete', 60, 2],
    ['whole read', 5, 2],
    ['first range', 4, 2],
    ['next range', 2, 1],
  ],
};

function checkCosts(report: Report, stages: Stages, bounds: readonly Bound[]): void {
  for (const [name, toStore, toKeys] of bounds) {
    const stage = stages.named(name);
    const [store, keys] = [requestsOf(stage.store), requestsOf(stage.keyServer)];
    const detail = `${store} and ${keys}, ${inMib(stage.fetched)} fetched`;
    const what = `${name}: at most ${toStore} requests to the store, ${toKeys} to the key server`;
    report.check(what, store <= toStore && keys <= toKeys, detail);
  }
}
