import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createChecksum } from '../../src/objects/s3/checksum.ts';
import { auditStore, list } from './audit.ts';
import { type Bed, BUCKET, MiB, ok, startBed } from './bed.ts';

/** Three parts of 16 MiB, which minio-go sends by default. */
const SIZE = 40 * MiB;
/** Three parts of the size that is asked for where the size decides nothing. */
const SMALLER = 11 * MiB;
const PART = `--part-size=${5 * MiB}`;

interface MinioGoResult {
  readonly info?: Readonly<Record<string, string | number>>;
  readonly code?: string;
  readonly message?: string;
}

/** What minio-go is given to send a file or a stream of it, and its own choice of checksum. */
const UPLOADS: readonly (readonly [string, readonly string[]])[] = [
  ['file', []],
  ['known', []],
  ['unknown', []],
  ['unknown', [PART]],
  ['known', [PART, '--checksum=FullCRC32C']],
  ['known', [PART, '--checksum=FullCRC32']],
  ['known', [PART, '--checksum=CRC64NVME']],
  ['known', [PART, '--checksum=CRC32']],
  ['known', [PART, '--checksum=SHA256']],
];

/** The proxy sends its own checksums on: of how a caller sends, a store sees the number and the size of parts. */
const ALSO_ON_MINIO = ['file', 'unknown', `known ${PART} --checksum=FullCRC32C`];

for (const store of ['versitygw', 'minio'] as const) {
  const test = suite<{ bed: Bed }>(`minio-go, ${store}`);

  async function run(bed: Bed, options: readonly string[], ...words: string[]): Promise<MinioGoResult> {
    const [operation = '', ...rest] = words;
    return JSON.parse(ok(await bed.clients.minioGo([...options, operation, BUCKET, ...rest])));
  }

  async function succeed(bed: Bed, options: readonly string[], ...words: string[]) {
    const { info, code, message } = await run(bed, options, ...words);
    assert.is(code, undefined, message);
    return info ?? {};
  }

  const fileOf = ({ clients }: Bed, name: string) => readFileSync(join(clients.dir, name));

  /** In base64, as it is in headers. */
  function crc32cOf(body: Buffer): string {
    const running = createChecksum('crc32c');
    running.update(body);
    return running.digest().toString('base64');
  }

  test.before(async (context) => {
    context.bed = await startBed({ store });
    context.bed.file('source', SIZE);
    context.bed.file('smaller', SMALLER);
  });
  test.after(({ bed }) => bed?.stop());

  const uploads = UPLOADS.map(([operation, options]) => {
    const source = options.includes(PART) ? 'smaller' : 'source';
    return { operation, options, source, title: [operation, ...options].join(' ') };
  }).filter(({ title }) => store === 'versitygw' || ALSO_ON_MINIO.includes(title));
  for (const { operation, options, source, title } of uploads)
    test(`uploads three parts and reads them back: ${title}`, async ({ bed }) => {
      const key = title.replaceAll(/[^\w]/g, '-');
      await succeed(bed, options, operation, key, source);
      await succeed(bed, [], 'get', key, `${key}.back`);
      assert.is(bed.digest(`${key}.back`), bed.digest(source));
    });

  test('puts and gets what goes in one request', async ({ bed }) => {
    for (const [name, size] of Object.entries({ empty: 0, small: 1, page: 4096, large: 9 * MiB })) {
      bed.file(name, size);
      for (const operation of ['file', 'known']) {
        await succeed(bed, [], operation, name, name);
        await succeed(bed, [], 'get', name, `${name}.${operation}`);
        assert.is(bed.digest(`${name}.${operation}`), bed.digest(name), `${name}, ${operation}`);
      }
    }
  });

  test('the answer to Complete has the checksum of the whole object', async ({ bed }) => {
    const info = await succeed(bed, [PART, '--checksum=FullCRC32C'], 'known', 'told', 'smaller');
    assert.is(info.ChecksumCRC32C, crc32cOf(fileOf(bed, 'smaller')));
  });

  test('a wrong checksum of the whole object is BadDigest, and no object appears', async ({ bed }) => {
    const right = crc32cOf(fileOf(bed, 'smaller'));
    const wrong = crc32cOf(Buffer.from('another'));
    for (const mode of ['FULL_OBJECT', 'COMPOSITE']) {
      const options = [PART, `--mode=${mode}`, `--claim=${wrong}`];
      const { code } = await run(bed, options, 'claim', 'wrong', 'smaller');
      assert.is(code, 'BadDigest', mode);
    }
    assert.equal([...(await list(bed.client, 'wrong')).keys()], []);
    await succeed(bed, [PART, '--mode=FULL_OBJECT', `--claim=${right}`], 'claim', 'right', 'smaller');
    assert.equal([...(await list(bed.client, 'right')).keys()], ['right']);
  });

  test('composes an object of ranges of another, and has its parts compared', async ({ bed }) => {
    await succeed(bed, [], 'file', 'origin', 'source');
    await succeed(bed, ['--checksum=FullCRC32C'], 'compose', 'composed', 'origin');
    await succeed(bed, [], 'get', 'composed', 'composed');
    assert.equal(
      readFileSync(join(bed.clients.dir, 'composed')),
      fileOf(bed, 'source').subarray(0, 32 * MiB),
    );
  });

  test('the store holds ciphertext only', ({ bed }) => auditStore(bed));

  test.run();
}
