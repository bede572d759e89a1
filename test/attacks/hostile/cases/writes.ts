import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { chunked, chunkedHeaders } from '../../../bad-input/support/chunks.ts';
import type { RunningMode } from '../bed.ts';
import { type CallOutcome, encodedPath } from '../call.ts';
import { asked } from '../judge.ts';
import type { AttemptedUpload } from '../world.ts';
import type { StoreCase } from './store-case.ts';

type Step = (one: StoreCase) => Promise<void>;

const aKey = (one: StoreCase) => one.choices.pick(one.keys);
const succeeded = ({ status, complete }: CallOutcome) => status >= 200 && status < 300 && complete;
const honest = (one: StoreCase) => one.parts.mind.honesty.kind === 'honest' && !one.impatient;

function crcOf(body: Buffer): string {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return sum.toString('base64');
}

interface Form {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly leaveAfter?: number;
  /** What the caller says of its body does not hold, so that nothing of it may be kept. */
  readonly wrong: boolean;
}

/** The ways in which clients send a body, right and wrong. */
function formOf(one: StoreCase, body: Buffer, mode: RunningMode): Form {
  const { choices } = one;
  const md5 = createHash('md5').update(body).digest('base64');
  const sha = createHash('sha256').update(body);
  const other = createHash('sha256').update('other');
  return choices.weighted<Form>([
    [50, { body, headers: {}, wrong: false }],
    [8, { body, headers: { 'x-amz-checksum-crc32': crcOf(body) }, wrong: false }],
    [6, { body, headers: { 'content-md5': md5 }, wrong: false }],
    [8, { body: chunked(body), headers: chunkedHeaders(body.length), wrong: false }],
    [
      8,
      {
        body: chunked(body, [`x-amz-checksum-crc32:${crcOf(body)}`]),
        headers: chunkedHeaders(body.length, 'x-amz-checksum-crc32'),
        wrong: false,
      },
    ],
    [4, { body, headers: { 'x-amz-checksum-crc32': 'AAAAAA==' }, wrong: crcOf(body) !== 'AAAAAA==' }],
    [4, { body, headers: { 'x-amz-checksum-sha256': other.digest('base64') }, wrong: true }],
    [
      4,
      {
        body: chunked(body, ['x-amz-checksum-crc32:AAAAAA==']),
        headers: chunkedHeaders(body.length, 'x-amz-checksum-crc32'),
        wrong: crcOf(body) !== 'AAAAAA==',
      },
    ],
    [4, { body: chunked(body), headers: chunkedHeaders(body.length + 1), wrong: true }],
    [
      2,
      {
        body,
        headers: {
          'x-amz-content-sha256': mode.keys
            ? sha.digest('hex')
            : createHash('sha256').update('x').digest('hex'),
        },
        wrong: !mode.keys,
      },
    ],
    [body.length > 0 ? 2 : 0, { body, headers: {}, leaveAfter: choices.below(body.length), wrong: true }],
  ]);
}

const put: Step = async (one) => {
  const [mode, key, body] = [one.mode(), aKey(one), one.body()];
  const form = formOf(one, body, mode);
  if (!form.wrong) one.world.attempted(key, body);
  const sure = honest(one);
  const outcome = await one.send(mode, {
    method: 'PUT',
    key,
    headers: form.headers,
    body: form.body,
    ...(form.leaveAfter !== undefined && { leaveAfter: form.leaveAfter }),
  });
  if (form.wrong && succeeded(outcome))
    one.fail(`a PUT whose digest or length does not hold is answered ${outcome.status}`);
  if (form.wrong) return sure ? undefined : one.uncertain(key);
  if (!sure) return one.uncertain(key);
  if (!succeeded(outcome))
    return one.fail(`an honest store, and a PUT of ${key} is answered ${outcome.status}`);
  one.world.certain.set(key, body);
};

const partXml = (parts: readonly (readonly [number, string])[]) =>
  Buffer.from(
    `<CompleteMultipartUpload>${parts.map(([number, etag]) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag.replaceAll('"', '&quot;')}</ETag></Part>`).join('')}</CompleteMultipartUpload>`,
  );

/** Create, parts (some of them twice), Complete; several of these may be of one key at a time, and each step by another proxy. */
const multipart: Step = async (one) => {
  const { choices, world } = one;
  const key = aKey(one);
  const created = await one.send(one.mode(), { method: 'POST', key, query: 'uploads=' });
  const id = /<UploadId>([^<]*)</.exec(created.body.toString())?.[1];
  if (!succeeded(created) || id === undefined) {
    if (honest(one)) one.fail(`an honest store, and Create of ${key} is answered ${created.status}`);
    return;
  }
  const upload: AttemptedUpload =
    world.uploads.get(id)?.key === key
      ? (world.uploads.get(id) as AttemptedUpload)
      : { key, parts: new Map() };
  world.uploads.set(id, upload);
  let sure = honest(one);
  const named: [number, string][] = [];
  const newest = new Map<number, Buffer>();
  const numbers = choices.pick([[1], [1, 2], [1, 2, 3], [2, 5], [1, 2]]);
  for (const number of numbers)
    for (let times = choices.chance(0.15) ? 2 : 1; times > 0; times--) {
      const body = one.body();
      const { etag, copied } = await sendPart(one, upload, id, number, body);
      sure &&= honest(one) && !copied && etag !== undefined;
      if (etag === undefined) continue;
      const at = named.findIndex(([one]) => one === number);
      if (at >= 0) named.splice(at, 1);
      named.push([number, etag]);
      newest.set(number, body);
    }
  if (named.length === 0) return one.uncertain(key);
  world.completeAttempted(
    upload,
    named.map(([number]) => number),
  );
  const outcome = await one.send(one.mode(), {
    method: 'POST',
    key,
    query: `uploadId=${encodeURIComponent(id)}`,
    body: partXml(named),
  });
  sure &&= honest(one);
  if (!sure) return one.uncertain(key);
  if (!succeeded(outcome) || !outcome.body.includes('<CompleteMultipartUploadResult'))
    return one.fail(`an honest store, and Complete of ${key} is answered ${outcome.status} ${outcome.body}`);
  world.certain.set(key, Buffer.concat([...newest].map(([, body]) => body)));
};

async function sendPart(
  one: StoreCase,
  upload: AttemptedUpload,
  id: string,
  number: number,
  body: Buffer,
): Promise<{ etag?: string | undefined; copied?: boolean }> {
  const { world, choices } = one;
  const versions = upload.parts.get(number) ?? [];
  upload.parts.set(number, versions);
  const query = `partNumber=${number}&uploadId=${encodeURIComponent(id)}`;
  const mode = one.mode();
  const from = aKey(one);
  if (choices.chance(0.12) && world.candidates(from).length > 0) {
    const range = choices.chance(0.5) ? `bytes=${choices.below(20)}-${20 + choices.below(20)}` : undefined;
    const sources = world.copied(from, false);
    for (const source of sources) {
      const [start, end] =
        range === undefined
          ? [0, source.length - 1]
          : (asked(range, source.length) ?? '0--1').split('-').map(Number);
      versions.push({ etag: undefined, body: source.subarray(start, (end ?? -1) + 1) });
    }
    const source = {
      'x-amz-copy-source': encodedPath(one.parts.bucket, from),
      ...(range && { 'x-amz-copy-source-range': range }),
    };
    const outcome = await one.send(mode, { method: 'PUT', key: upload.key, query, headers: source });
    for (const bare of world.copied(from, false))
      if (!sources.includes(bare)) versions.push({ etag: undefined, body: bare });
    const etag = /<ETag>([^<]*)</.exec(outcome.body.toString())?.[1]?.replaceAll('&quot;', '"');
    return { copied: true, etag: succeeded(outcome) ? etag : undefined };
  }
  const form = formOf(one, body, mode);
  if (!form.wrong) versions.push({ etag: undefined, body });
  const outcome = await one.send(mode, {
    method: 'PUT',
    key: upload.key,
    query,
    headers: form.headers,
    body: form.body,
    ...(form.leaveAfter !== undefined && { leaveAfter: form.leaveAfter }),
  });
  if (form.wrong && succeeded(outcome))
    one.fail(`a part whose digest or length does not hold is answered ${outcome.status}`);
  if (form.wrong) return {};
  if (honest(one) && !succeeded(outcome))
    one.fail(`an honest store, and a part of ${upload.key} is answered ${outcome.status}`);
  return { etag: succeeded(outcome) ? outcome.headers.etag : undefined };
}

const copy: Step = async (one) => {
  const { world, choices } = one;
  const mode = one.mode();
  const [from, to] = [aKey(one), aKey(one)];
  const headers = {
    'x-amz-copy-source': encodedPath(one.parts.bucket, from),
    ...(choices.chance(0.3) && { 'x-amz-metadata-directive': 'REPLACE', 'x-amz-meta-a': 'b' }),
  };
  const sure = honest(one);
  const known = world.certain.get(from);
  world.copyAttempted(from, to, false);
  const outcome = await one.send(mode, { method: 'PUT', key: to, headers });
  world.copyAttempted(from, to, mode.deny);
  const done = succeeded(outcome) && outcome.body.includes('<CopyObjectResult');
  if (!sure || known === undefined) return one.uncertain(to);
  if (done && known !== null) world.certain.set(to, known);
  else if (known !== null && from !== to)
    one.fail(`an honest store, and a copy of ${from} is answered ${outcome.status} ${outcome.body}`);
};

const remove: Step = async (one) => {
  const [mode, key] = [one.mode(), aKey(one)];
  const sure = honest(one);
  const many = one.choices.chance(0.4);
  const text = Buffer.from(`<Delete><Object><Key>${key}</Key></Object></Delete>`);
  const md5 = createHash('md5').update(text).digest('base64');
  const outcome = many
    ? await one.send(mode, {
        method: 'POST',
        key: '',
        query: 'delete=',
        body: text,
        headers: { 'content-md5': md5 },
      })
    : await one.send(mode, { method: 'DELETE', key });
  if (!sure || !succeeded(outcome)) return one.uncertain(key);
  one.world.certain.set(key, null);
};

export const writes: readonly (readonly [number, Step])[] = [
  [60, put],
  [14, multipart],
  [12, copy],
  [6, remove],
];
