import type { Handler } from '../context.ts';
import { encryptPart } from '../write/encrypt-part.ts';
import { partTarget, recordPart } from './part-target.ts';

/** UploadPart: encrypted under a DEK of its own and recorded before the caller hears of it. */
export const uploadPart: Handler = async (context, exchange) => {
  const { request, payload, signal } = exchange;
  const target = await partTarget(context, request);
  const part = await encryptPart(context, {
    name: target.name,
    uploadId: target.record.uploadId,
    manifest: target.record.manifest,
    number: target.number,
    source: payload.chunks(target.record.checksum?.algorithm),
    length: payload.length,
    checksums: payload.checksums,
    headers: request.headers,
    signal,
  });
  await recordPart(context, target, part);
  exchange.answer.head(200, part.answer);
  await exchange.answer.end();
};
