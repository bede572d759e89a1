import { s3Error } from '../../../core/s3/error-catalog.ts';
import { errorXml } from '../../../core/s3/error-xml.ts';
import { unsatisfiedRange } from '../../../core/s3/range.ts';
import type { Exchange, ProxyContext } from '../context.ts';
import { readOptions } from './deliver.ts';
import type { ObjectLayout, StoredObject } from './object-reader.ts';

/**
 * 416 with the plaintext size, once that is authentic: clients find out by it how long the object is, and take a
 * transfer that broke off at that length for a whole one.
 */
export async function answerUnsatisfied(
  { reader }: ProxyContext,
  exchange: Exchange,
  object: StoredObject,
  layout: ObjectLayout,
): Promise<void> {
  const { answer, request } = exchange;
  const { size } = layout;
  await reader.verifySize(object, layout, readOptions(exchange));
  const error = s3Error('InvalidRange', undefined, {
    details: { RangeRequested: request.headers.range ?? '', ActualObjectSize: String(size) },
  });
  const xml = Buffer.from(errorXml(error, { resource: request.rawPath, requestId: request.id }));
  answer.head(416, {
    'content-type': 'application/xml',
    'content-length': String(xml.length),
    'content-range': unsatisfiedRange(size),
  });
  await (request.method === 'HEAD' ? answer.end() : answer.end(xml));
}
