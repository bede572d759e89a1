import type { OperationHandler } from '../../../objects/context.ts';
import { s3Error } from '../../../objects/s3/error.ts';
import { responseHeadersDownstream } from '../../../objects/s3/headers.ts';
import { removal, replaceSpans, type SpanEdit } from '../../../objects/s3/replace-spans.ts';
import { type ElementVisitor, scanXml } from '../../../objects/s3/xml-scan.ts';
import { decodeText } from '../../../objects/s3/xml-text.ts';
import { beginAnswer, readBody, refusal } from '../../../objects/upstream/upstream.ts';
import type { BlockBody } from '../../../runtime/bounds/block-body.ts';
import { release } from '../../../runtime/memory.ts';
import { forward } from './pass-through.ts';

/** Fits 10,000 buckets with everything that S3 reports of each. */
const listLimit = 8 * 1024 * 1024;

/** ListBuckets without the proxy's state bucket. */
export const listBuckets: OperationHandler = async (services, context) => {
  const held = context.memory.of('answers');
  await beginAnswer(held);
  const response = await forward(services, context, await context.payload.read(0));
  if (response.status !== 200) throw await refusal(response);
  context.answer.head(200, responseHeadersDownstream(response.headers));
  const xml = await readBody(response, listLimit, held);
  context.answer.head(200, { 'content-type': 'application/xml' });
  try {
    await context.answer.end(withoutBucket(xml, services.config.stateBucket));
  } finally {
    release(xml);
  }
};

/**
 * @throws S3Error InternalError for an unexpected document, which might show the bucket in a way that this code misses
 */
export function withoutBucket(xml: Buffer, bucket: string | undefined): BlockBody {
  if (bucket === undefined) return replaceSpans(xml, []);
  const finder = new BucketFinder(xml, bucket);
  try {
    scanXml(xml, finder, { names: [root, 'Bucket', 'Name'], most: maxElements, plain: true });
  } catch (cause) {
    throw s3Error('InternalError', "The object store's list of buckets could not be read.", { cause });
  }
  return replaceSpans(xml, finder.found);
}

/** 10,000 buckets with everything that S3 reports of each. */
const maxElements = 160_000;
const root = 'ListAllMyBucketsResult';
const place = { bucket: 3, name: 4 };

/** `<ListAllMyBucketsResult><Buckets><Bucket><Name>`: finds the buckets of that name. */
class BucketFinder implements ElementVisitor {
  readonly found: SpanEdit[] = [];
  readonly #xml: Buffer;
  readonly #bucket: string;
  #start = 0;
  #content = 0;
  #isIt = false;

  constructor(xml: Buffer, bucket: string) {
    this.#xml = xml;
    this.#bucket = bucket;
  }

  open(name: string | undefined, depth: number, start: number, content: number): void {
    if (depth === 1 && name !== root) throw s3Error('MalformedXML');
    if (depth === place.bucket) [this.#start, this.#isIt] = [start, false];
    this.#content = content;
  }

  close(name: string | undefined, depth: number, content: number, end: number): void {
    if (depth === place.name && name === 'Name')
      this.#isIt ||= decodeText(this.#xml, this.#content, content)?.trim() === this.#bucket;
    if (depth === place.bucket && name === 'Bucket' && this.#isIt)
      this.found.push(removal({ start: this.#start, end }));
  }
}
