import {
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import type { Report } from '../part.ts';
import { inMib, residentBound } from '../support/figures.ts';
import { inParallel } from '../support/in-parallel.ts';
import { bytesOf } from '../support/payload.ts';
import { readObject } from '../support/read-object.ts';
import { Bucket, startBed } from './bed.ts';
import { complete, Key, partCount, type Uploaded } from './large-upload.ts';
import { requestsOf, type Stage, Stages } from './stages.ts';
import { stageTables } from './tables.ts';

const segment = 64 * 1024;
/** Of the source; the last one is short. */
const segments = 16;
const lastSegment = 1000;
const sourceKey = 'the source.bin';
const copiers = 16;

const source = bytesOf('copied parts', (segments - 1) * segment + lastSegment);

/** Part n is a segment of the source; neighbours are not neighbours there. */
const segmentOf = (partNumber: number): number => (partNumber * 7) % segments;

const bytesOfPart = (partNumber: number): Buffer =>
  source.subarray(segmentOf(partNumber) * segment, (segmentOf(partNumber) + 1) * segment);

const whole = Buffer.concat(Array.from({ length: partCount }, (_, index) => bytesOfPart(index + 1)));

/** An object of 10,000 parts of which the store has copied each, with a relay on both sides that counts. */
export async function copiedParts(report: Report): Promise<void> {
  report.say(`${partCount} parts that the store copies, ${inMib(whole.length)}, format 2:`);
  const bed = await startBed(true, ['--format', '2']);
  const stages = new Stages(bed);
  try {
    await bed.s3.send(new PutObjectCommand({ Bucket, Key: sourceKey, Body: source }));
    const uploaded = await stages.run('copy', () => copyAll(bed.s3));
    await stages.run('complete', () => complete(bed.s3, uploaded));
    const { body } = await stages.run('whole read', () => readObject(bed.s3, Bucket, Key));
    report.check('the whole object reads back', body.equals(whole), inMib(body.length));
    await bed.restart();
    const [from, to] = [whole.length / 2, whole.length / 2 + 3 * segment].map(Math.floor) as [number, number];
    const Range = `bytes=${from}-${to - 1}`;
    const read = await stages.run('first range', () => readObject(bed.s3, Bucket, Key, { Range }));
    report.check('a range over several parts reads back', read.body.equals(whole.subarray(from, to)), Range);
    report.say(`\n${stageTables(stages.all)}\n`);
    checkStages(report, stages);
  } finally {
    await bed.stop();
  }
}

async function copyAll(s3: S3Client): Promise<Uploaded> {
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const etags: (string | undefined)[] = [];
  await inParallel(partCount, copiers, async (index) => {
    const begin = segmentOf(index + 1) * segment;
    const part = { Bucket, Key, UploadId, PartNumber: index + 1 };
    const CopySource = `${Bucket}/${encodeURIComponent(sourceKey)}`;
    const CopySourceRange = `bytes=${begin}-${begin + bytesOfPart(index + 1).length - 1}`;
    const copied = await s3.send(new UploadPartCopyCommand({ ...part, CopySource, CopySourceRange }));
    etags[index] = copied.CopyPartResult?.ETag;
  });
  return { UploadId, etags };
}

/** Of helper objects and answers; the bodies of all parts are nearly 600 MiB. */
const mostFetchedToCopy = 64 * 1024 ** 2;

function checkStages(report: Report, stages: Stages): void {
  const copy = stages.named('copy');
  report.check('no body passed through the proxy', copy.fetched <= mostFetchedToCopy, inMib(copy.fetched));
  const keyCalls = (stage: Stage) => requestsOf(stage.keyServer);
  report.check(
    'copying asks the key server twice a part at most',
    keyCalls(copy) <= 2 * partCount + 10,
    `${keyCalls(copy)}`,
  );
  const whole = stages.named('whole read');
  report.check(
    'the whole is read with one key, and a look at the key server',
    keyCalls(whole) <= 3,
    `${keyCalls(whole)}`,
  );
  const peak = Math.max(...stages.all.map((stage) => stage.peak));
  report.check(
    `the proxy stays within ${inMib(residentBound)} of resident memory`,
    peak <= residentBound,
    inMib(peak),
  );
}
