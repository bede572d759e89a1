import { s3Error } from '../../../core/s3/error.ts';
import { responseHeadersDownstream } from '../../../core/s3/headers.ts';
import { type ElementHandler, scanXml, unescapeXml } from '../../../core/s3/xml-text.ts';
import type { OperationHandler } from '../context.ts';
import { beginAnswer, readBody, refusal } from '../upstream/upstream.ts';
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
  const xml = (await readBody(response, listLimit, held)).toString();
  context.answer.head(200, { 'content-type': 'application/xml' });
  await context.answer.end(withoutBucket(xml, services.config.stateBucket));
};

/**
 * @throws S3Error InternalError for an unexpected document, which might show the bucket in a way that this code misses
 */
export function withoutBucket(xml: string, bucket: string | undefined): string {
  if (bucket === undefined) return xml;
  const finder = new BucketFinder(xml, bucket);
  if (!scanXml(xml, finder) || finder.root !== 'ListAllMyBucketsResult')
    throw s3Error('InternalError', "The object store's list of buckets could not be read.");
  return finder.rest();
}

const place = { bucket: 3, name: 4 };

/** `<ListAllMyBucketsResult><Buckets><Bucket><Name>`: collects the text outside the buckets of that name. */
class BucketFinder implements ElementHandler {
  root = '';
  readonly #xml: string;
  readonly #bucket: string;
  readonly #kept: string[] = [];
  #from = 0;
  #start = 0;
  #content = 0;
  #found = false;

  constructor(xml: string, bucket: string) {
    this.#xml = xml;
    this.#bucket = bucket;
  }

  open(name: string, depth: number, start: number, content: number): void {
    if (depth === 1) this.root = name;
    if (depth === place.bucket) this.#start = start;
    if (depth === place.bucket) this.#found = false;
    this.#content = content;
  }

  close(name: string, depth: number, content: number, end: number): void {
    if (depth === place.name && name === 'Name')
      this.#found ||= unescapeXml(this.#xml.slice(this.#content, content))?.trim() === this.#bucket;
    if (depth !== place.bucket || name !== 'Bucket' || !this.#found) return;
    this.#kept.push(this.#xml.slice(this.#from, this.#start));
    this.#from = end;
  }

  rest(): string {
    return this.#kept.join('') + this.#xml.slice(this.#from);
  }
}
