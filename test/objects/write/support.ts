import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { HangGuard } from '../../../src/keyserver/hang-guard.ts';
import { decryptBody, nonceBytes, tagBytes } from '../../../src/objects/format/cipher.ts';
import { MemoryBudget } from '../../../src/objects/held-memory.ts';
import type { DataKeys, FreshKey } from '../../../src/objects/keys/data-keys.ts';
import { createPartKeys } from '../../../src/objects/multipart/part-keys.ts';
import { UploadKeys } from '../../../src/objects/multipart/upload-keys.ts';
import { ResponseBody } from '../../../src/objects/net/http1-response-body.ts';
import { SpoolSpace } from '../../../src/objects/read/body/spool.ts';
import type { Upstream, UpstreamRequest, UpstreamResponse } from '../../../src/objects/upstream/upstream.ts';
import type { EncryptionPlan, WriteContext } from '../../../src/objects/write/seal-and-send.ts';
import { quiet } from '../upstream/support.ts';

export const MiB = 1024 * 1024;

/** Keys that remembers what it gave out: by wrapped form, a copy and the buffer itself. */
export class TestKeys implements DataKeys {
  readonly scheme = { keyName: 'svc', binding: 'key' } as const;
  readonly given: FreshKey[] = [];
  readonly #copies = new Map<string, Buffer>();
  failure: Error | undefined;

  async create(_name: unknown, purposes: readonly unknown[]): Promise<FreshKey[]> {
    if (this.failure) throw this.failure;
    return purposes.map(() => {
      const key = randomBytes(32);
      const fresh = { key, ciphertext: `vault:v3:${randomBytes(60).toString('base64')}`, keyVersion: 3 };
      this.given.push(fresh);
      this.#copies.set(fresh.ciphertext, Buffer.from(key));
      return fresh;
    });
  }
  wrap(): never {
    throw new Error('not used');
  }
  unwrap(): never {
    throw new Error('not used');
  }

  /** @returns the plaintext of a stored body. @throws EnvelopeError when it is not whole */
  open(wrapped: string, stored: Buffer): Buffer {
    const key = this.#copies.get(wrapped);
    if (!key) throw new Error('no such key was given out');
    const cipher = decryptBody(key, stored.subarray(0, nonceBytes));
    const plaintext = cipher.update(stored.subarray(nonceBytes, -tagBytes));
    cipher.verify(stored.subarray(-tagBytes));
    return plaintext;
  }

  /** True when every key that was given out has been overwritten. */
  get allZeroed(): boolean {
    return this.given.every(({ key }) => key.every((byte) => byte === 0));
  }
}

export function response(
  status: number,
  headers: Record<string, string> = { etag: '"0123456789abcdef0123456789abcdef"' },
  text = '',
): UpstreamResponse {
  const flow = { pause: () => undefined, resume: () => undefined, reset: () => undefined };
  const body = new ResponseBody(flow, () => new Error('broken'));
  body.push(Buffer.from(text));
  body.ended();
  return { status, headers, body };
}

/** A store in memory that keeps the one body that it was sent last. */
export class MemoryUpstream implements Upstream {
  readonly requests: UpstreamRequest[] = [];
  stored: Buffer | undefined;
  aborts = 0;
  answer: (request: UpstreamRequest) => UpstreamResponse = () => response(200);
  /** Thrown by every write of an upload. */
  writeFailure: Error | undefined;

  async send(request: UpstreamRequest, body?: Uint8Array): Promise<UpstreamResponse> {
    this.requests.push(request);
    if (body) this.stored = Buffer.from(body);
    return this.answer(request);
  }

  async upload(request: UpstreamRequest, length: number) {
    this.requests.push(request);
    const chunks: Buffer[] = [];
    const write = async (chunk: Uint8Array) => {
      if (this.writeFailure) throw this.writeFailure;
      chunks.push(Buffer.from(chunk));
    };
    return {
      write,
      finish: async (last: Uint8Array) => {
        await write(last);
        this.stored = Buffer.concat(chunks);
        if (this.stored.length !== length)
          throw new Error(`${length} bytes announced, ${this.stored.length} sent`);
        return this.answer(request);
      },
      answer: async () => this.answer(request),
      abort: () => {
        this.aborts += 1;
      },
    };
  }

  close(): void {}
}

export interface TestContext extends WriteContext {
  readonly uploadKeys: UploadKeys;
  readonly keys: TestKeys;
  readonly log: typeof quiet;
}

export function writeContext(
  upstream: Upstream,
  options: { upstreamChecksum?: 'crc32' | 'none'; spoolSize?: number; spoolDir?: string } = {},
): TestContext {
  const { upstreamChecksum = 'crc32', spoolSize = 64 * MiB, spoolDir = tmpdir() } = options;
  const keys = new TestKeys();
  return {
    config: { upstreamChecksum, spoolDir } as WriteContext['config'],
    keys,
    uploadKeys: new UploadKeys(keys),
    partKeys: createPartKeys(keys, {
      ahead: false,
      hangGuard: new HangGuard({ timeoutMs: 5_000, log: quiet }),
    }),
    upstream,
    metrics: { request() {}, refused() {}, bytes() {} },
    memory: new MemoryBudget(),
    spoolSpace: new SpoolSpace(spoolSize),
    log: quiet,
  };
}

/** The chunks one after the other, each overwritten once the next is asked for; then `end`. */
export async function* source(chunks: readonly Uint8Array[], end?: Error): AsyncGenerator<Buffer> {
  for (const chunk of chunks) {
    const lent = Buffer.from(chunk);
    yield lent;
    lent.fill(0xdd);
  }
  if (end) throw end;
}

/** `data` in pieces of 64 KiB. */
export function pieces(data: Buffer): Buffer[] {
  const count = Math.ceil(data.length / 65536);
  return Array.from({ length: count }, (_, index) => data.subarray(index * 65536, (index + 1) * 65536));
}

export const name = { bucket: 'bucket', key: 'folder/key' };

export function planOf(
  chunks: AsyncIterable<Buffer>,
  length: number | undefined,
  request: EncryptionPlan['request'] = () => ({ method: 'PUT', ...name }),
): EncryptionPlan {
  return { name, purpose: { kind: 'object' }, source: chunks, length, request };
}
