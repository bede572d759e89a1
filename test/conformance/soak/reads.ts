import { HeadObjectCommand, ListObjectsV2Command, type S3ServiceException } from '@aws-sdk/client-s3';
import { readObject } from '../support/read-object.ts';
import { Bucket } from '../support/real-bed.ts';
import { expand, sizeOf } from './holdings.ts';
import type { Operation } from './writes.ts';

/** Reads the whole object, or finds that there is none. */
export const get: Operation = async (client, Key) => {
  const held = client.held.get(Key);
  if (!held) return absent(client, Key);
  const { body } = await readObject(client.s3, Bucket, Key);
  client.tally.bytes += body.length;
  if (!body.equals(expand(held.content)))
    client.tally.differs('get', Key, `${body.length} bytes are not what was written`);
};

const absent: Operation = async ({ s3, tally }, Key) => {
  try {
    await s3.send(new HeadObjectCommand({ Bucket, Key }));
  } catch (error) {
    if ((error as S3ServiceException).$metadata?.httpStatusCode === 404) return;
    throw error;
  }
  tally.differs('head', Key, 'answered 200 where there is no object');
};

/** Reads some bytes from the middle. */
export const range: Operation = async (client, Key) => {
  const held = client.held.get(Key);
  const size = held ? sizeOf(held.content) : 0;
  if (!held || size === 0) return;
  const from = client.random.below(size);
  const to = from + client.random.below(Math.min(size - from, 1024 ** 2));
  const { body } = await readObject(client.s3, Bucket, Key, { Range: `bytes=${from}-${to}` });
  client.tally.bytes += body.length;
  if (!body.equals(expand(held.content).subarray(from, to + 1)))
    client.tally.differs('range', Key, `bytes ${from} to ${to} are not what was written`);
};

export const head: Operation = async (client, Key) => {
  const held = client.held.get(Key);
  if (!held) return absent(client, Key);
  const { ContentLength, ETag } = await client.s3.send(new HeadObjectCommand({ Bucket, Key }));
  if (ContentLength !== sizeOf(held.content) || ETag !== held.etag)
    client.tally.differs('head', Key, `gave ${ContentLength} bytes and ${ETag}`);
};

/** Lists all that it holds. */
export const list: Operation = async (client) => {
  const { Contents = [] } = await client.s3.send(new ListObjectsV2Command({ Bucket, Prefix: client.prefix }));
  const known = Contents.filter(({ Key = '' }) => !client.retired.has(Key));
  const listed = known.map(({ Key, Size, ETag }) => `${Key} ${Size} ${ETag}`);
  const held = [...client.held].map(([key, { content, etag }]) => `${key} ${sizeOf(content)} ${etag}`);
  if (listed.sort().join('\n') !== held.sort().join('\n'))
    client.tally.differs('list', client.prefix, `gave\n${listed.join('\n')}\ninstead of\n${held.join('\n')}`);
};
