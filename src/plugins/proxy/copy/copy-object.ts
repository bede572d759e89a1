import type { ObjectName } from '../../../core/envelope/binding.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { Handler, ProxyContext } from '../context.ts';
import { manifestToReplace, removeManifest } from '../delete/manifest-of.ts';
import { answerSlowly, type SlowAnswer } from '../multipart/slow-answer.ts';
import { readAgain } from '../read/read-again.ts';
import { copiedAnswer } from './copied.ts';
import { copyEncrypted } from './copy-encrypted.ts';
import { copyPlaintext } from './copy-plaintext.ts';
import { type CopyRequest, readCopyRequest } from './copy-request.ts';
import { maxCopyBytes, type SourceObject, sourceTooLarge, statSource } from './copy-source-object.ts';
import { changesSomething } from './destination-headers.ts';

/** CopyObject. What it leaves is encrypted under the latest KEK version, whatever the source was. */
export const copyObject: Handler = async (context, exchange) => {
  const { request, payload, signal } = exchange;
  await payload.read(0);
  const copy = readCopyRequest(request);
  const to = { bucket: request.bucket, key: request.key };
  const copying = readAgain({ started: false }, () => copyOnce(context, copy, to, signal));
  await answerSlowly(context, exchange, copying);
};

async function copyOnce(
  context: ProxyContext,
  copy: CopyRequest,
  to: ObjectName,
  signal: AbortSignal,
): Promise<SlowAnswer> {
  const source = await statSource(context, copy, signal);
  if (source.object.storedSize > maxCopyBytes) throw sourceTooLarge();
  const encrypted = source.object.envelope !== undefined;
  if (encrypted) refuseIdle(copy, source, to);
  const replaced = await manifestToReplace(context, to, signal);
  const copied = await (encrypted ? copyEncrypted : copyPlaintext)(context, copy, source, to, signal);
  await removeManifest(context, to, replaced);
  return copiedAnswer('CopyObjectResult', copied, versionOf(source));
}

/** As S3 does; an object that is not encrypted may be copied onto itself, which encrypts it. */
function refuseIdle(copy: CopyRequest, { object }: SourceObject, to: ObjectName): void {
  const onItself = object.name.bucket === to.bucket && object.name.key === to.key;
  if (!onItself || copy.source.versionId !== undefined || changesSomething(copy)) return;
  throw s3Error(
    'InvalidRequest',
    "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
  );
}

export function versionOf({ object }: SourceObject): string | undefined {
  const version = object.headers['x-amz-version-id'];
  return typeof version === 'string' ? version : undefined;
}
