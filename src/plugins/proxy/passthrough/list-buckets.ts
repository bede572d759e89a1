import { element } from '../../../core/s3/xml-write.ts';
import type { Handler } from '../context.ts';
import { readBody } from '../upstream/read-body.ts';
import { refusal } from '../upstream/refusal.ts';
import { forward } from './pass-through.ts';

/** 10,000 buckets with all that S3 says of each. */
const listLimit = 8 * 1024 * 1024;

/** ListBuckets without the bucket of the proxy's own helper objects. */
export const listBuckets: Handler = async (context, exchange) => {
  const response = await forward(context, exchange, await exchange.payload.read(0));
  if (response.status !== 200) throw await refusal(response);
  const xml = (await readBody(response, listLimit)).toString();
  exchange.answer.head(200, { 'content-type': 'application/xml' });
  await exchange.answer.end(withoutBucket(xml, context.config.stateBucket));
};

export function withoutBucket(xml: string, bucket: string | undefined): string {
  if (bucket === undefined) return xml;
  const name = element('Name', bucket);
  return xml.replace(/<Bucket>.*?<\/Bucket>/gs, (entry) => (entry.includes(name) ? '' : entry));
}
