import { s3Error } from '../../../core/s3/error-catalog.ts';
import { errorXml } from '../../../core/s3/error-xml.ts';
import { unsatisfiedRange } from '../../../core/s3/range.ts';
import type { Exchange } from '../context.ts';

/** 416 with the plaintext size, by which clients find out how long the object is. */
export async function answerUnsatisfied({ answer, request }: Exchange, size: number): Promise<void> {
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
