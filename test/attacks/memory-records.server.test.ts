import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { partRecordKey, uploadPrefix } from '../../src/objects/format/records.ts';
import { createMemoryCgroup, type MemoryCgroup } from '../support/limit-cgroup.ts';
import { type Loopback, listen } from '../support/loopback.ts';
import { type RawAnswer, rawHttp } from '../support/raw-http.ts';
import { repetitions } from '../support/repetitions.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';

const test = suite('memory of the proxy while uploads have many records');
export const timeout = 300_000;

const MiB = 1024 * 1024;
const pageSize = 1_000;
const reserved = '.svc/';
/** How many records uploads have, by their id: of one part that was sent again, or of as many parts. */
const records = new Map<string, { readonly count: number; readonly of: 'one part' | 'parts' }>();
/** What the proxy wrote itself. */
const kept = new Map<string, Buffer>();

let rig: Rig;
let store: Loopback;
let cgroup: MemoryCgroup;
let proxy: RiggedProxy;
let format: 1 | 2 = 1;

test.before(async () => {
  rig = await startRig();
  store = await listen(createServer((asked, response) => void answer(asked, response)));
});
test.after(async () => {
  await store?.stop();
  await rig?.stop();
});

async function startProxy(of: 1 | 2 = 1): Promise<void> {
  format = of;
  cgroup = createMemoryCgroup(128 * MiB);
  const upstream = { endpoint: store.url, region: 'us-east-1', accessKeyId: 'a', secretAccessKey: 'b' };
  const args = ['--format', String(of)];
  proxy = await rig.proxy({ upstream, args, under: cgroup.under, waitReady: false });
}

async function stopProxy(): Promise<void> {
  assert.is(cgroup.killed(), 0);
  assert.is((await rawHttp(`${proxy.health}/healthz`)).status, 200);
  await proxy.stop();
  await cgroup.remove();
  kept.clear();
  records.clear();
  pages.clear();
}

/** A store that lists as many records of an upload as it is told to, of the form that the proxy writes. */
async function answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(asked.url ?? '', store.url);
  const [path, query] = [decodeURIComponent(url.pathname), url.searchParams];
  const body: Buffer[] = [];
  for await (const chunk of asked) body.push(chunk);
  const xml = (text: string) => response.setHeader('content-type', 'application/xml').end(text);
  const refuse = (status: number, code: string) => {
    response.statusCode = status;
    xml(`<Error><Code>${code}</Code></Error>`);
  };
  if (asked.method === 'PUT') {
    kept.set(path, Buffer.concat(body));
    response.setHeader('etag', '"e"').end();
  } else if (asked.method === 'POST' && query.has('uploads')) {
    const id = path.split('/').at(-1);
    xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  } else if (asked.method === 'POST' && query.has('uploadId')) {
    xml('<CompleteMultipartUploadResult><ETag>"e"</ETag></CompleteMultipartUploadResult>');
  } else if (asked.method === 'POST') xml('<DeleteResult/>');
  else if (asked.method === 'DELETE') refuse(409, 'BucketNotEmpty');
  else if (query.has('list-type')) xml(listing(query));
  else if (query.has('uploads')) xml('<ListMultipartUploadsResult/>');
  else if (query.has('versioning')) xml('<VersioningConfiguration/>');
  else if (query.has('uploadId'))
    xml(
      '<ListPartsResult><Part><PartNumber>1</PartNumber><ETag>"none"</ETag><Size>33</Size></Part></ListPartsResult>',
    );
  else if (kept.has(path)) response.end(kept.get(path));
  else refuse(404, query.has('object-lock') ? 'ObjectLockConfigurationNotFoundError' : 'NoSuchKey');
}

const etagOf = (at: number) => at.toString(16).padStart(32, '0');
const nonce = randomBytes(12).toString('base64');
const salt = randomBytes(32).toString('base64url');
const wrapped = randomBytes(60).toString('base64');
const sealed = randomBytes(48).toString('base64url');

function recordAt(id: string, at: number): string {
  const place = { n: records.get(id)?.of === 'parts' ? at + 1 : 1, size: 8 * MiB };
  const rest = { etag: etagOf(at), sealed };
  return format === 1
    ? partRecordKey(reserved, id, { part: { ...place, dek: `vault:v1:${wrapped}`, nonce }, ...rest })
    : partRecordKey(reserved, id, { part: { ...place, salt }, commitment: salt, ...rest });
}

const modified = new Date().toISOString();

/** A page's entries; made once. */
const pages = new Map<string, string>();

function entries(id: string, page: number): string {
  const name = `${format} ${id} ${page}`;
  const known = pages.get(name);
  if (known !== undefined) return known;
  const count = Math.min(pageSize, countOf(id) - page * pageSize);
  const keys = Array.from({ length: count }, (_, index) => recordAt(id, page * pageSize + index));
  const made = keys
    .map(
      (key) => `<Contents><Key>${key}</Key><LastModified>${modified}</LastModified><Size>0</Size></Contents>`,
    )
    .join('');
  pages.set(name, made);
  return made;
}

function listing(query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? '';
  const ids = [...records.keys()].filter((id) => uploadPrefix(reserved, id).startsWith(prefix));
  const all = ids.flatMap((id) =>
    Array.from({ length: Math.ceil(countOf(id) / pageSize) }, (_, page) => [id, page] as const),
  );
  const at = Number(query.get('continuation-token') ?? 0);
  const isLast = at + 1 >= all.length;
  const next = isLast ? '' : `<NextContinuationToken>${at + 1}</NextContinuationToken>`;
  const contents = all[at] === undefined ? '' : entries(...all[at]);
  return `<ListBucketResult><IsTruncated>${!isLast}</IsTruncated>${next}${contents}</ListBucketResult>`;
}

const countOf = (id: string): number => records.get(id)?.count ?? 0;

async function begin(id: string, count: number, of: 'one part' | 'parts', checksum = true): Promise<void> {
  const headers: Record<string, string> = checksum ? { 'x-amz-checksum-algorithm': 'CRC32' } : {};
  const begun = await rawHttp(`${proxy.url}/bucket/${id}?uploads`, { method: 'POST', headers });
  assert.is(begun.status, 200, begun.code);
  records.set(id, { count, of });
}

const told = ({ status, code }: RawAnswer) => `${status} ${code ?? ''}`.trim();
const seen = (answers: readonly RawAnswer[]) => [...new Set(answers.map(told))].sort();
const atOnce = <T>(count: number, ask: (at: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, at) => ask(at)));

const listParts = (id: string) =>
  rawHttp(`${proxy.url}/bucket/${id}?uploadId=${id}&max-parts=1`, { timeoutMs: 200_000 });

for (const version of [1, 2] as const)
  test(`many ListParts read the records of a part that was sent again and again (format ${version})`, async () => {
    await startProxy(version);
    const usual = version === 1 ? ([10_023, 64] as const) : ([20_000, 16] as const);
    for (const [count, times] of [usual, [repetitions(30_000, 250_000), 1]] as const) {
      await begin(`again-${count}`, count, 'one part');
      const answers = await atOnce(times, () => listParts(`again-${count}`));
      assert.ok(
        seen(answers).every((status) => status === '200' || status === '503 SlowDown'),
        `${seen(answers)}`,
      );
      assert.ok(
        answers.some(({ status }) => status === 200),
        `${count}`,
      );
    }
    await stopProxy();
  });

function complete(id: string, parts: readonly number[], etag = etagOf): Promise<RawAnswer> {
  const texts = parts.map((n) => `<Part><PartNumber>${n}</PartNumber><ETag>${etag(n - 1)}</ETag></Part>`);
  const body = Buffer.from(`<CompleteMultipartUpload>${texts.join('')}</CompleteMultipartUpload>`);
  const call = { method: 'POST', body, timeoutMs: 200_000 };
  return rawHttp(`${proxy.url}/bucket/${id}?uploadId=${id}`, call);
}

const isTold = (answers: readonly RawAnswer[]) =>
  answers.map(({ status, body }) => `${status} ${/<Code>(\w+)/.exec(body.toString())?.[1] ?? ''}`.trim());

test('an upload whose part has 150,000 records can be completed', async () => {
  await startProxy();
  await begin('long', 150_000, 'one part', false);
  assert.equal(isTold([await complete('long', [1])]), ['200']);
  await stopProxy();
});

test('many Completes of 10,000 parts wait their turn, or are told to slow down', async () => {
  await startProxy();
  const count = repetitions(16, 40);
  for (let at = 0; at < count; at++) await begin(`large-${at}`, 10_000, 'parts', false);
  const parts = Array.from({ length: 10_000 }, (_, at) => at + 1);
  for (const [etag, outcome] of [
    [() => 'a', '400 InvalidPart'],
    [etagOf, '200'],
  ] as const) {
    const answers = isTold(await atOnce(count, (at) => complete(`large-${at}`, parts, etag)));
    const kinds = [...new Set(answers)];
    assert.ok(
      kinds.every((kind) => [outcome, '503 SlowDown', '200 SlowDown'].includes(kind)),
      `${kinds}`,
    );
    // one at a time, and each waits for its turn no longer than 20 s, which a busy machine takes for one
    assert.ok(answers.filter((kind) => kind === outcome).length > 1, `${answers}`);
  }
  await stopProxy();
});

test('many DeleteBucket look at 30,000 helper objects one after another', async () => {
  await startProxy();
  await begin('left', 30_000, 'one part', false);
  const answers = await atOnce(8, () =>
    rawHttp(`${proxy.url}/bucket`, { method: 'DELETE', timeoutMs: 250_000 }),
  );
  assert.ok(
    seen(answers).every((kind) => ['409 BucketNotEmpty', '503 SlowDown'].includes(kind)),
    `${seen(answers)}`,
  );
  await stopProxy();
});

test.run();
