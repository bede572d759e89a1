import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { RequestSigner } from '../../../src/objects/s3/sigv4-sign.ts';
import { fileOf, flip, MiB, putParts } from '../../attacks/support/stored.ts';
import { type RawAnswer, type RawCall, rawHttp } from '../../support/raw-http.ts';
import type { Rig, RiggedProxy } from '../../support/rig.ts';

/** Drives a proxy whose callers are authenticated, by all its operations, and keeps what it answers on errors. */
export class Traffic {
  readonly #rig: Rig;
  readonly #via: RiggedProxy;
  readonly #payload: (bytes: number) => Buffer;
  /** Heads of all answers and bodies of those that are errors, of requests made by hand. */
  readonly heard: Buffer[] = [];

  /** @param payload makes plaintext that holds the marker */
  constructor(rig: Rig, via: RiggedProxy, payload: (bytes: number) => Buffer) {
    this.#rig = rig;
    this.#via = via;
    this.#payload = payload;
  }

  /** Where the proxy listens. */
  get address(): string {
    return this.#via.url;
  }

  /** Everything that should succeed. */
  async succeed(): Promise<void> {
    const { s3 } = this.#via;
    const Bucket = this.#rig.bucket;
    const put = (Key: string, bytes: number) =>
      s3.send(new PutObjectCommand({ Bucket, Key, Body: this.#payload(bytes), Metadata: { a: 'b' } }));
    await Promise.all([put('small', 1000), put('large', 3 * MiB), put('empty', 0)]);
    await putParts(s3, Bucket, 'parts', [this.#payload(5 * MiB), this.#payload(2000)]);
    const read = async (Key: string, Range?: string) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, ...(Range && { Range }) }));
      await Body?.transformToByteArray();
    };
    for (const Key of ['small', 'large', 'parts']) await Promise.all([read(Key), read(Key, 'bytes=5-90')]);
    await s3.send(new HeadObjectCommand({ Bucket, Key: 'parts' }));
    await s3.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/small` }));
    await s3.send(new CopyObjectCommand({ Bucket, Key: 'copied-parts', CopySource: `${Bucket}/parts` }));
    await this.#copyPart();
    await s3.send(new ListObjectsV2Command({ Bucket }));
    await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'copy' }] } }));
    await this.call('unknown-length', 'PUT', this.#payload(2 * MiB), { 'transfer-encoding': 'chunked' });
  }

  /** Requests that the proxy, the store or the key server refuses or fails. */
  async fail(): Promise<void> {
    const body = this.#payload(3000);
    const large = this.#payload(3 * MiB);
    await Promise.all([
      this.call('small', 'GET'),
      this.call('large', 'GET'),
      this.call('parts', 'GET'),
      this.call('large', 'GET', undefined, { range: 'bytes=100-200' }),
      this.call('failing', 'PUT', body),
      this.call('failing', 'PUT', large),
      this.call('failing?uploads', 'POST'),
      this.call('missing', 'GET'),
      this.call('failing', 'PUT', body, { 'x-amz-copy-source': `/${this.#rig.bucket}/small` }),
      this.call('failing', 'PUT', body, { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }),
      this.call('failing', 'PUT', large, { 'x-amz-checksum-sha256': createHash('sha256').digest('base64') }),
      this.call('.svc/x', 'PUT', body),
      this.call('failing?uploadId=none&partNumber=1', 'PUT', body),
      this.call('small?uploadId=none', 'POST', body),
      this.forge('small', body),
    ]);
  }

  /** Objects whose stored bytes were changed. */
  async tamper(): Promise<void> {
    for (const key of ['small', 'large', 'parts']) {
      const path = fileOf(this.#rig, key);
      const good = readFileSync(path);
      writeFileSync(path, flip(-30)(good));
      await this.call(key, 'GET');
      await this.call(key, 'GET', undefined, { range: 'bytes=0-9' });
      writeFileSync(path, good);
    }
  }

  /** A signed request; the answer's head is kept, and its body unless it is the object. */
  async call(path: string, method: string, body?: Uint8Array, headers: Record<string, string> = {}) {
    const [key = '', query = ''] = path.split('?');
    const { host } = new URL(this.#via.url);
    const signer = new RequestSigner(this.#rig.store.region);
    const request = { method, path: `/${this.#rig.bucket}/${key}`, query, payload: 'UNSIGNED-PAYLOAD' };
    const signed = signer.sign({ ...request, headers: { ...headers, host } }, this.#via.target);
    return this.#send(path, { method, headers: signed.headers, ...(body && { body }) });
  }

  /** An upload whose Complete names the checksum of its part, for which the part's key is unwrapped; its status. */
  async completeWithChecksum(key: string, body: Uint8Array): Promise<number> {
    const begun = await this.call(`${key}?uploads=`, 'POST', undefined, {
      'x-amz-checksum-algorithm': 'CRC32',
    });
    const [, id] = /<UploadId>([\w-]+)</.exec(begun.body.toString()) ?? [];
    if (id === undefined) return begun.status;
    const { headers } = await this.call(`${key}?partNumber=1&uploadId=${id}`, 'PUT', body);
    const fields = `<ETag>${headers.etag}</ETag><ChecksumCRC32>${headers['x-amz-checksum-crc32']}</ChecksumCRC32>`;
    const list = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber>${fields}</Part></CompleteMultipartUpload>`;
    return (await this.call(`${key}?uploadId=${id}`, 'POST', Buffer.from(list))).status;
  }

  /** An upload that is given up after `count` parts. */
  async abortParts(key: string, count: number, body: Uint8Array): Promise<void> {
    const begun = await this.call(`${key}?uploads=`, 'POST');
    const [, id] = /<UploadId>([\w-]+)</.exec(begun.body.toString()) ?? [];
    if (id === undefined) return;
    for (let number = 1; number <= count; number++)
      await this.call(`${key}?partNumber=${number}&uploadId=${id}`, 'PUT', body);
    await this.call(`${key}?uploadId=${id}`, 'DELETE');
  }

  /** A request with a signature of another secret. */
  async forge(path: string, body: Uint8Array): Promise<void> {
    const signer = new RequestSigner(this.#rig.store.region);
    const { host } = new URL(this.#via.url);
    const request = { method: 'PUT', path: `/${this.#rig.bucket}/${path}`, query: '', headers: { host } };
    const keys = { ...this.#via.target, secretAccessKey: 'guessed-by-somebody' };
    const { headers } = signer.sign({ ...request, payload: 'UNSIGNED-PAYLOAD' }, keys);
    await this.#send(path, { method: 'PUT', headers, body });
  }

  /** What `/healthz`, `/readyz` and `/metrics` say now. */
  async health(): Promise<Buffer> {
    const answers = ['healthz', 'readyz', 'metrics'].map((name) => rawHttp(`${this.#via.health}/${name}`));
    return Buffer.concat((await Promise.all(answers)).map(({ body }) => body));
  }

  async #send(path: string, call: RawCall): Promise<RawAnswer> {
    const answer = await rawHttp(`${this.#via.url}/${this.#rig.bucket}/${path}`, call);
    this.heard.push(Buffer.from(JSON.stringify(answer.headers)));
    if (answer.status >= 300) this.heard.push(answer.body);
    return answer;
  }

  async #copyPart(): Promise<void> {
    const { s3 } = this.#via;
    const at = { Bucket: this.#rig.bucket, Key: 'copied-part' };
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand(at));
    const source = { CopySource: `${at.Bucket}/large`, CopySourceRange: 'bytes=0-99999' };
    await s3.send(new UploadPartCopyCommand({ ...at, ...source, UploadId, PartNumber: 1 }));
    await s3.send(new AbortMultipartUploadCommand({ ...at, UploadId }));
  }
}
