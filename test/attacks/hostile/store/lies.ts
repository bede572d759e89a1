import type { Choices } from '../choices.ts';
import { documentLies } from './document-lies.ts';
import { describe } from './memory-s3.ts';
import {
  header,
  type StoredBucket,
  type StoredVersion,
  type StoreReply,
  type StoreRequest,
  withHeader,
} from './model.ts';
import type { WirePlan } from './wire-plan.ts';

/** What a lie is told about. */
export interface Situation {
  readonly request: StoreRequest;
  /** What is true. */
  readonly reply: StoreReply;
  readonly bucket: StoredBucket;
  /** Earlier true answers of the case, to be given again where they do not belong. */
  readonly earlier: readonly { readonly request: StoreRequest; readonly reply: StoreReply }[];
}

/** @returns undefined where it cannot be told of this */
export type Lie = (choices: Choices, situation: Situation) => WirePlan | undefined;

const successful = ({ status }: StoreReply) => status >= 200 && status < 300;
const reads = ({ method, key }: StoreRequest) => key !== '' && (method === 'GET' || method === 'HEAD');
const withBody = (reply: StoreReply, body: Buffer): WirePlan => ({ reply: { ...reply, body } });

/** A lie about the bytes of a read, told in one voice with the length. */
const aboutBody =
  (edit: (body: Buffer, choices: Choices, situation: Situation) => Buffer | undefined): Lie =>
  (choices, situation) => {
    const { request, reply } = situation;
    if (!reads(request) || !successful(reply)) return undefined;
    const body = edit(reply.body, choices, situation);
    return body && withBody(reply, body);
  };

const aboutHeaders =
  (edit: (reply: StoreReply, choices: Choices, situation: Situation) => StoreReply | undefined): Lie =>
  (choices, situation) => {
    const { request, reply } = situation;
    if (!reads(request) || !successful(reply)) return undefined;
    const told = edit(reply, choices, situation);
    return told && { reply: told };
  };

const svcPrefix = 'x-amz-meta-svc-';
const isSvc = (name: string) => name.startsWith(svcPrefix);

function flipped(body: Buffer, choices: Choices): Buffer | undefined {
  if (body.length === 0) return undefined;
  const copy = Buffer.from(body);
  const at = choices.below(body.length);
  copy.writeUInt8(copy.readUInt8(at) ^ (1 << choices.below(8)), at);
  return copy;
}

/** A version that is not the one that was asked for: of another key, or an earlier one of the same. */
function anotherVersion(choices: Choices, { request, bucket }: Situation): StoredVersion | undefined {
  const current = bucket.objects.get(request.key);
  const all = [...bucket.history].flatMap(([key, versions]) =>
    key.startsWith('.svc/') === request.key.startsWith('.svc/') ? versions : [],
  );
  const others = all.filter((version) => version !== current);
  return others.length === 0 ? undefined : choices.pick(others);
}

const slice = (reply: StoreReply, body: Buffer): Buffer => {
  const [, start = '', end = ''] = /^bytes (\d+)-(\d+)/.exec(header(reply, 'content-range') ?? '') ?? [];
  return start === '' ? body : body.subarray(Number(start), Number(end) + 1);
};

const withStored = (reply: StoreReply, version: StoredVersion): StoreReply => ({
  ...reply,
  headers: [
    ...Object.entries(describe(version)),
    ...reply.headers.filter(([name]) => name === 'content-range'),
  ],
});

const bodies: Readonly<Record<string, Lie>> = {
  'a bit flipped': aboutBody(flipped),
  'body cut': aboutBody((body, choices) => body.subarray(0, choices.below(body.length))),
  'last bytes cut': aboutBody((body, choices) => body.subarray(0, -choices.pick([1, 16, 28, 29]))),
  'first bytes cut': aboutBody((body, choices) => body.subarray(choices.pick([1, 12, 28]))),
  'body extended': aboutBody((body, choices) =>
    Buffer.concat([body, Buffer.alloc(choices.pick([1, 16, 28, 1000]))]),
  ),
  'body shifted': aboutBody((body) => Buffer.concat([body.subarray(1), body.subarray(0, 1)])),
  'body doubled': aboutBody((body) => Buffer.concat([body, body])),
  'body emptied': aboutBody(() => Buffer.alloc(0)),
  zeroes: aboutBody((body) => Buffer.alloc(body.length)),
  'parts exchanged': aboutBody((body) => {
    const half = body.length >> 1;
    return Buffer.concat([body.subarray(half), body.subarray(0, half)]);
  }),
  "another version's body": aboutBody((_body, choices, situation) => {
    const other = anotherVersion(choices, situation);
    return other && slice(situation.reply, other.body);
  }),
  'plaintext of its own': (choices, { request, reply }) => {
    if (!reads(request) || !successful(reply)) return undefined;
    const body = Buffer.from('forged by the store '.repeat(choices.between(1, 40)));
    const headers = reply.headers.filter(([name]) => !isSvc(name) && name !== 'content-range');
    return { reply: { status: 200, headers, body } };
  },
};

const descriptions: Readonly<Record<string, Lie>> = {
  'another version': (choices, situation) => {
    if (!reads(situation.request) || !successful(situation.reply)) return undefined;
    const other = anotherVersion(choices, situation);
    return (
      other && { reply: { ...withStored(situation.reply, other), body: slice(situation.reply, other.body) } }
    );
  },
  "another version's headers": aboutHeaders((reply, choices, situation) => {
    const other = anotherVersion(choices, situation);
    return other && withStored(reply, other);
  }),
  "another version's svc metadata": aboutHeaders((reply, choices, situation) => {
    const other = anotherVersion(choices, situation);
    if (other === undefined) return undefined;
    const own = reply.headers.filter(([name]) => !isSvc(name));
    return { ...reply, headers: [...own, ...Object.entries(other.headers).filter(([name]) => isSvc(name))] };
  }),
  'svc metadata stripped': aboutHeaders((reply) => ({
    ...reply,
    headers: reply.headers.filter(([name]) => !isSvc(name)),
  })),
  'one svc header stripped': aboutHeaders((reply, choices) => {
    const names = reply.headers.map(([name]) => name).filter(isSvc);
    return names.length === 0 ? undefined : withHeader(reply, choices.pick(names), undefined);
  }),
  'one svc header edited': aboutHeaders((reply, choices) => {
    const names = reply.headers.filter(([name]) => isSvc(name));
    if (names.length === 0) return undefined;
    const [name, value] = choices.pick(names);
    const at = choices.below(value.length + 1);
    const edits = [
      value.slice(0, at) + value.slice(at + 1),
      `${value.slice(0, at)}A${value.slice(at + 1)}`,
      '',
      `${value}, ${value}`,
      value.toUpperCase(),
      'none',
      '1',
      value.replaceAll('v1', 'v2'),
    ];
    return withHeader(reply, name, choices.pick(edits));
  }),
  'a svc header twice': aboutHeaders((reply, choices) => {
    const svc = reply.headers.filter(([name]) => isSvc(name));
    if (svc.length === 0) return undefined;
    const [name, value] = choices.pick(svc);
    return {
      ...reply,
      headers: [
        ...reply.headers,
        [choices.pick([name, name.toUpperCase()]), choices.pick([value, 'true', 'none'])],
      ],
    };
  }),
  'svc metadata in another spelling': aboutHeaders((reply, choices) => {
    const to = choices.pick(['x-amz-meta-svc_', 'x-amz-meta-Svc-', 'x_amz_meta_svc_', 'x-amz-meta-svc-x-']);
    return {
      ...reply,
      headers: reply.headers.map(([name, value]) => [name.replace(svcPrefix, to), value] as const),
    };
  }),
  'another ETag': aboutHeaders((reply, choices) =>
    withHeader(
      reply,
      'etag',
      choices.pick([
        '"0123456789abcdef0123456789abcdef"',
        'W/"x"',
        '""',
        '*',
        'x',
        '"x-3"',
        '"0123456789abcdef0123456789abcdef-svc"',
      ]),
    ),
  ),
  'no ETag': aboutHeaders((reply) => withHeader(reply, 'etag', undefined)),
  'another Content-Range': aboutHeaders((reply, choices) => {
    const told = header(reply, 'content-range');
    if (told === undefined && choices.chance(0.5)) return undefined;
    const [, start = 0, end = 9, size = 10] = (/(\d+)-(\d+)\/(\d+)/.exec(told ?? '') ?? []).map(Number);
    const by = choices.pick([1, 10, 28, -1]);
    const ranges = [
      `bytes ${start + by}-${end + by}/${size}`,
      `bytes ${start}-${end}/${size + by}`,
      `bytes ${start}-${end}/*`,
      `bytes */${size}`,
      `items ${start}-${end}/${size}`,
      `bytes ${end}-${start}/${size}`,
      '',
    ];
    return withHeader(reply, 'content-range', choices.pick(ranges));
  }),
  'user metadata of its own': aboutHeaders((reply, choices) => ({
    ...reply,
    headers: [
      ...reply.headers,
      choices.pick([
        ['x-amz-meta-told', 'lie'],
        ['content-encoding', 'gzip'],
        ['content-type', 'text/html'],
        ['set-cookie', 'a=b'],
        ['x-amz-checksum-crc32', 'AAAAAA=='],
        ['content-range', 'bytes 0-0/1'],
      ] as const),
    ],
  })),
};

const statuses: Readonly<Record<string, Lie>> = {
  'a 416 with a size': (choices, { request, reply }) =>
    reads(request)
      ? {
          reply: {
            status: 416,
            headers: [
              ['content-range', `bytes */${choices.below(5000)}`],
              ...(choices.chance(0.5) ? reply.headers : []),
            ],
            body: Buffer.from(
              '<Error><Code>InvalidRange</Code><ActualObjectSize>77</ActualObjectSize></Error>',
            ),
          },
        }
      : undefined,
  'another status': (choices, { reply }) => ({
    reply: {
      ...reply,
      status: choices.pick([
        200, 201, 202, 204, 206, 226, 299, 301, 304, 307, 400, 403, 404, 405, 409, 412, 416, 429, 500, 503,
        599, 999,
      ]),
    },
  }),
  'an error in a 200': (choices, { reply }) => ({
    reply: {
      ...reply,
      status: 200,
      body: Buffer.from(
        `<Error><Code>${choices.pick(['InternalError', 'NoSuchKey', 'SlowDown', 'NoSuchUpload'])}</Code></Error>`,
      ),
    },
  }),
  'a refusal with secrets of markup': (choices, { reply }) => ({
    reply: {
      ...reply,
      status: choices.pick([400, 403, 500]),
      body: Buffer.from(
        `<Error><Code>${'A'.repeat(choices.below(300))}</Code><Message>&lt;x&gt;${'m'.repeat(choices.below(2000))}</Message></Error>`,
      ),
    },
  }),
  'done without doing': (_choices, { request, reply }) =>
    request.method === 'PUT' || request.method === 'DELETE' ? { reply } : undefined,
  'an earlier answer again': (choices, { earlier }) =>
    earlier.length === 0 ? undefined : { reply: choices.pick(earlier).reply },
  'the answer to the same question about another key': (choices, { request, earlier }) => {
    const alike = earlier.filter(
      (one) =>
        one.request.method === request.method &&
        one.request.key !== request.key &&
        one.request.key.slice(0, 8) === request.key.slice(0, 8),
    );
    return alike.length === 0 ? undefined : { reply: choices.pick(alike).reply };
  },
};

const framings: Readonly<Record<string, Lie>> = {
  chunks: (_choices, { reply }) => ({ reply, framing: 'chunked' }),
  'length and chunks': (_choices, { reply }) => ({ reply, framing: 'both', ending: 'fin' }),
  'no length': (_choices, { reply }) => ({ reply, framing: 'none', ending: 'fin' }),
  'another length': (choices, { reply }) => {
    const { length } = reply.body;
    // A length that is never reached would be waited for, and only the end of the connection tells.
    const told = choices.pick([
      [length + 1],
      [length - 1],
      [length + 28],
      [length - 28],
      [0],
      [1e12],
      [2 ** 53],
      [-1],
      [length, length],
      [length, length + 1],
    ]);
    return { reply, lengths: told.map(String), ending: choices.pick(['fin', 'reset'] as const) };
  },
  'a length that is no number': (choices, { reply }) => ({
    reply,
    lengths: [
      choices.pick([
        `+${reply.body.length}`,
        `0x${reply.body.length.toString(16)}`,
        `${reply.body.length} `,
        `${reply.body.length},${reply.body.length}`,
        `${reply.body.length}.0`,
        '',
        'x',
      ]),
    ],
    ending: 'fin',
  }),
  'cut on the way': (choices, { reply }) => ({
    reply,
    framing: choices.pick(['length', 'chunked', 'none'] as const),
    cut: choices.below(reply.body.length + 1),
    ending: choices.pick(['fin', 'reset'] as const),
  }),
  'a second answer behind it': (choices, { reply, earlier }) => {
    const other = earlier.length === 0 ? reply : choices.pick(earlier).reply;
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${other.body.length}\r\n\r\n`;
    return { reply, behind: Buffer.concat([Buffer.from(head), other.body]), ending: 'fin' };
  },
  'interim answers': (choices, { reply }) => ({ reply, interim: choices.between(1, 20), ending: 'fin' }),
  'a folded header': (_choices, { reply }) => ({
    reply,
    lines: 'x-amz-meta-folded: a\r\n  x-amz-meta-svc-encrypted: true\r\n',
    ending: 'fin',
  }),
  'malformed headers': (choices, { reply }) => ({
    reply,
    lines: choices.pick([
      'no colon at all\r\n',
      ': empty\r\n',
      'x y: z\r\n',
      `x-long: ${'x'.repeat(20_000)}\r\n`,
      'x-amz-meta-\xe4: \xff\r\n',
      'x: a\rb\r\n',
      'x: a\0b\r\n',
      'x-a: b\n\n',
    ]),
    ending: 'fin',
  }),
  drops: (choices, { reply }) => ({ reply, pieces: choices.between(2, 6) }),
  'reset at once': (_choices, { reply }) => ({ reply, cut: 0, ending: 'reset' }),
};

export const lies: Readonly<Record<string, Lie>> = {
  ...bodies,
  ...descriptions,
  ...statuses,
  ...framings,
  ...documentLies,
};
