import type { Choices } from '../choices.ts';
import { bytesOf } from './caller-request.ts';
import { has, insert, type Mutation, type MutationTargets, setHeader, smuggledKey } from './mutation.ts';

const callerKey = 'AKHOSTILECALLER';

/** A request of its own behind the first, as a server before the proxy could miss it. */
const smuggled = ({ otherBucket, hiddenKey, host, bucket }: MutationTargets, choices: Choices) =>
  Buffer.from(
    choices.pick([
      `GET /${otherBucket}/${hiddenKey} HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
      `DELETE /${bucket}/${hiddenKey} HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
      `PUT /${bucket}/${smuggledKey} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 5\r\n\r\nhello`,
    ]),
  );

const framings: Readonly<Record<string, Mutation>> = {
  'length and chunks': (request, choices, around) => {
    if (!has(request, 'content-length')) setHeader(request, 'content-length', '0');
    insert(
      request,
      choices,
      choices.pick([
        ['Transfer-Encoding', 'chunked'],
        ['transfer-encoding', ' chunked'],
        ['Transfer-Encoding', 'CHUNKED'],
        ['Transfer-Encoding', 'identity'],
        ['Transfer-Encoding', 'chunked, identity'],
        ['Transfer-Encoding', 'xchunked'],
        ['Transfer-Encoding ', 'chunked'],
        ['Transfer-Encoding', '\x0bchunked'],
        ['Transfer-Encoding', 'gzip, chunked'],
        ['Transfer\xadEncoding', 'chunked'],
      ]),
    );
    request.body = choices.pick([
      request.body,
      Buffer.concat([Buffer.from('0\r\n\r\n'), smuggled(around, choices)]),
    ]);
    return 'anything of the case';
  },
  'chunks in place of the length': (request, choices, around) => {
    const { body } = request;
    request.headers = request.headers.filter(([name]) => name.toLowerCase() !== 'content-length');
    setHeader(
      request,
      'transfer-encoding',
      choices.pick(['chunked', 'Chunked', 'chunked, chunked', 'identity, chunked']),
    );
    const size = body.length.toString(16);
    const end = choices.pick([
      '0\r\n\r\n',
      '0\r\n',
      '',
      '0\n\n',
      '00000\r\n\r\n',
      '0;a=b\r\nx-amz-acl: public-read\r\n\r\n',
      '-0\r\n\r\n',
      '0x0\r\n\r\n',
    ]);
    const head = choices.pick([
      `${size}\r\n`,
      `0${size}\r\n`,
      `${size};ext="a\r\nb"\r\n`,
      `+${size}\r\n`,
      `0x${size}\r\n`,
      ` ${size}\r\n`,
      `${size} \r\n`,
      `ffffffffffffffff${size}\r\n`,
      `${size}\n`,
    ]);
    request.body =
      body.length === 0
        ? Buffer.from(end)
        : Buffer.concat([Buffer.from(head), body, Buffer.from('\r\n'), Buffer.from(end)]);
    if (choices.chance(0.3)) request.behind = smuggled(around, choices);
    return 'anything of the case';
  },
  'another length': (request, choices, around) => {
    const { length } = request.body;
    setHeader(
      request,
      'content-length',
      choices
        .pick([
          length + 1,
          Math.max(0, length - 1),
          0,
          length + 1000,
          '-1',
          `+${length}`,
          `0${length}`,
          `0x${length.toString(16)}`,
          `${length},${length}`,
          `${length} ${length}`,
          `${length}.0`,
          '1e3',
          '99999999999999999999',
          '',
        ])
        .toString(),
    );
    if (choices.chance(0.4)) request.behind = smuggled(around, choices);
    return 'anything of the case';
  },
  'two lengths': (request, choices) => {
    insert(request, choices, [
      'Content-Length',
      choices.pick([String(request.body.length), '0', String(request.body.length + 5)]),
    ]);
    return 'the base';
  },
  'something behind it': (request, choices, around) => {
    request.behind = choices.pick([
      smuggled(around, choices),
      Buffer.from('\r\n\r\n\r\n'),
      Buffer.from('\0'.repeat(50)),
      bytesOf({ ...request, behind: Buffer.alloc(0) }),
    ]);
    return 'anything of the case';
  },
  'body cut': (request, choices) => {
    if (request.body.length === 0) return undefined;
    request.body = request.body.subarray(0, choices.below(request.body.length));
    return 'the base';
  },
  'body changed': (request, choices) => {
    if (request.body.length === 0) return undefined;
    const body = Buffer.from(request.body);
    const at = choices.below(body.length);
    body.writeUInt8(body.readUInt8(at) ^ (1 << choices.below(8)), at);
    request.body = body;
    return 'the base';
  },
};

/** Edits of the text of a body in chunks: sizes, signatures, order, trailers. */
const chunkGames: Readonly<Record<string, Mutation>> = {
  'chunks otherwise': (request, choices) => {
    const text = request.body.toString('latin1');
    const chunks = text.split(/(?=\r\n[0-9a-f]+(?:;chunk-signature=[0-9a-f]{64})?\r\n)/);
    if (!has(request, 'x-amz-decoded-content-length') || chunks.length < 2) return undefined;
    const edits: (() => string)[] = [
      () => chunks.toReversed().join(''),
      () => chunks.slice(0, -1).join(''),
      () => [chunks[0], ...chunks].join(''),
      () => [...chunks, ...chunks.slice(-1)].join(''),
      () => text.replace(/chunk-signature=[0-9a-f]{4}/, 'chunk-signature=0000'),
      () => text.replace(/;chunk-signature=[0-9a-f]{64}/, ''),
      () => text.replace(/;chunk-signature=/, ';a=b;chunk-signature='),
      () => text.replace(/^([0-9a-f]+)/, (size) => `0${size}`),
      () => text.replace(/^([0-9a-f]+)/, (size) => (Number.parseInt(size, 16) + 1).toString(16)),
      () => text.replace(/\r\n0(;[^\r]*)?\r\n/, '\r\n0$1\r\nx-amz-acl:public-read\r\n'),
      () => text.replace(/x-amz-checksum-crc32:\S+/, 'x-amz-checksum-crc32:AAAAAA=='),
      () => text.replace(/x-amz-checksum-crc32:\S+/, (line) => `${line}\r\n${line}`),
      () => text.replace(/x-amz-checksum-crc32/, 'x-amz-checksum-sha256'),
      () => text.replace(/x-amz-checksum-crc32:\S+\r\n/, ''),
    ];
    request.body = Buffer.from(choices.pick(edits)(), 'latin1');
    setHeader(request, 'content-length', String(request.body.length));
    return 'the base';
  },
};

const signatureGames: Readonly<Record<string, Mutation>> = {
  'another signature': (request, choices) => {
    const edit = (text: string) =>
      choices.pick([
        text.replace(/([0-9a-f]{4})$/, '0000'),
        text.replace(/([0-9a-f]{64})$/, (hex) => hex.toUpperCase()),
        text.replace(/([0-9a-f]{64})$/, ''),
        text.replace(/SignedHeaders=[^,&]*/, 'SignedHeaders=host'),
        text.replace(/SignedHeaders=host(;|%3B)?/, 'SignedHeaders='),
        text.replace(/SignedHeaders=([^,&]*)/, 'SignedHeaders=$1;host'),
        text.replace(/SignedHeaders=([^,&]*)/, 'SignedHeaders=$1;x-absent'),
        text.replace(
          /SignedHeaders=([^,&]*)/,
          (_all, names) => `SignedHeaders=${names.split(';').reverse().join(';')}`,
        ),
        text.replace('eu-central-1', 'us-east-1'),
        text.replace('aws4_request', 'aws4_reques'),
        text.replace(callerKey, 'AKNOBODY'),
        text.replace(callerKey, ''),
        text.replace(
          'AWS4-HMAC-SHA256',
          choices.pick(['AWS4-HMAC-SHA1', 'AWS4-ECDSA-P256-SHA256', 'AWS', 'aws4-hmac-sha256']),
        ),
        text.replace(/\d{8}\//, '20200101/'),
      ]);
    const authorization = request.headers.find(([name]) => name === 'authorization');
    if (authorization) authorization[1] = edit(authorization[1]);
    else if (request.target.includes('X-Amz-Signature')) request.target = edit(request.target);
    else return undefined;
    return 'the base';
  },
  'presigned otherwise': (request, choices) => {
    if (!request.target.includes('X-Amz-Signature')) return undefined;
    request.target = choices.pick([
      request.target.replace(
        /X-Amz-Expires=\d+/,
        `X-Amz-Expires=${choices.pick(['604801', '0', '-1', '9e9', '300.0', '', '3000'])}`,
      ),
      request.target.replace(/X-Amz-Date=\d/, 'X-Amz-Date=3'),
      `${request.target}&X-Amz-Expires=300`,
      `${request.target}&X-Amz-Signature=${'0'.repeat(64)}`,
      `${request.target}&x-amz-signature=${'0'.repeat(64)}`,
      `${request.target}&X-Amz-SignedHeaders=host`,
      `${request.target}&X-Amz-Content-Sha256=UNSIGNED-PAYLOAD`,
      `${request.target}&x-amz-content-sha256=UNSIGNED-PAYLOAD`,
      `${request.target}&X-Amz-Security-Token=x`,
      request.target.replace('X-Amz-Algorithm', 'x-amz-algorithm'),
      request.target.replace('X-Amz-Signature', 'X%2DAmz%2DSignature'),
      request.target.replace('X-Amz-', 'X-Amz-X-Amz-'),
      request.target.replace('?', '?&&'),
      request.target.replace('&X-Amz-Expires=300', ''),
    ]);
    return 'the base';
  },
  'another payload hash': (request, choices) => {
    if (!has(request, 'x-amz-content-sha256')) return undefined;
    setHeader(
      request,
      'x-amz-content-sha256',
      choices.pick([
        'UNSIGNED-PAYLOAD',
        'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
        'STREAMING-AWS4-HMAC-SHA256-PAYLOAD',
        'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD',
        'x',
        '',
        'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      ]),
    );
    return 'the base';
  },
};

export const framingMutations: Readonly<Record<string, Mutation>> = {
  ...framings,
  ...chunkGames,
  ...signatureGames,
};
