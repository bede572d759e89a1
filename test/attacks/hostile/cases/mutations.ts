import type { Choices } from '../choices.ts';
import { bytesOf, type RawRequest } from './caller-request.ts';

/** Where a mutation may point at: what belongs to the case and is not the base's own. */
export interface Surroundings {
  readonly bucket: string;
  readonly otherBucket: string;
  /** A key with an object that the base request does not name. */
  readonly otherKey: string;
  readonly host: string;
}

/**
 * What a proxy without keys may make of it: refuse it or do what the base says, or else, where the mutation plainly
 * asks for something else, also that. With keys only the first, whatever it asks for.
 */
export type Meaning = 'the base' | 'anything of the case';

/** Changes the request in place. @returns undefined where it does not apply */
type Mutation = (request: RawRequest, choices: Choices, around: Surroundings) => Meaning | undefined;

const pathOf = ({ target }: RawRequest) =>
  target.includes('?') ? target.slice(0, target.indexOf('?')) : target;
const queryOf = ({ target }: RawRequest) => (target.includes('?') ? target.slice(target.indexOf('?')) : '');
const aHeader = ({ headers }: RawRequest, choices: Choices) =>
  headers.length === 0 ? undefined : choices.pick(headers);
const has = ({ headers }: RawRequest, name: string) => headers.some(([one]) => one.toLowerCase() === name);

function setHeader(request: RawRequest, name: string, value: string): void {
  request.headers = [...request.headers.filter(([one]) => one.toLowerCase() !== name), [name, value]];
}

const insert = (request: RawRequest, choices: Choices, header: [string, string]) =>
  request.headers.splice(choices.below(request.headers.length + 1), 0, header);

const targets: Readonly<Record<string, Mutation>> = {
  'absolute form of another host': (request, choices, { otherBucket, host }) => {
    const port = host.split(':')[1];
    request.target = `${choices.pick(['http', 'https', 'HTTP'])}://${choices.pick([`${otherBucket}.localhost:${port}`, `${otherBucket}.localhost`, `${otherBucket}.LOCALHOST.`, 'elsewhere.test', '', `user@${host}`, `${host}@${otherBucket}.localhost`])}${request.target}`;
    return 'anything of the case';
  },
  'absolute form of the same host': (request, _choices, { host }) => {
    request.target = `http://${host}${request.target}`;
    return 'the base';
  },
  'another key': (request, choices, { bucket, otherBucket, otherKey }) => {
    const other: [string, string] = choices.pick([
      [bucket, otherKey],
      [otherBucket, otherKey],
    ]);
    request.target = `/${other.join('/')}${queryOf(request)}`;
    return 'anything of the case';
  },
  'path with separators in disguise': (request, choices, { bucket, otherKey }) => {
    const path = pathOf(request);
    request.target =
      choices.pick([
        path.replaceAll('/', '//'),
        path.replace(/\/([^/]*)$/, '%2f$1'),
        path.replace(/\/([^/]*)$/, '%252F$1'),
        path.replaceAll('/', '\\'),
        `${path}/../${otherKey}`,
        `${path}/%2e%2e/${otherKey}`,
        `/${bucket}/./${otherKey}`,
        `/./${bucket}/${otherKey}`,
        `/${bucket}/..%2f${bucket}/${otherKey}`,
        `${path};x=y`,
        `${path}%00`,
        `${path}%00.txt`,
        `${path}#/../${otherKey}`,
        `${path}/`,
        `${path}%20`,
        `${path}%c0%af`,
        `${path}%zz`,
        path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
        path.slice(1),
        `/${bucket}/.svc/uploads/x`,
        `/${bucket}//.svc/uploads/x`,
        `/${bucket}/%2Esvc/manifests/x`,
        `/${bucket}`,
        `/${bucket}/`,
        '*',
        '',
        `/${'a'.repeat(choices.pick([300, 2000, 9000]))}`,
      ]) + queryOf(request);
    return 'anything of the case';
  },
  'a query beside': (request, choices, { bucket, otherKey }) => {
    const extra = choices.pick([
      'acl',
      'acl=',
      'tagging',
      'versionId=null',
      'versionId=',
      'uploads',
      'uploadId=x',
      'partNumber=1',
      'partNumber=1&uploadId=x',
      'attributes',
      'torrent',
      'delete',
      'restore',
      'select&select-type=2',
      'append&position=0',
      'renameObject',
      'x-id=GetObject',
      'response-content-type=text%2Fhtml',
      'response-cache-control=a%0d%0ab',
      `x-amz-copy-source=/${bucket}/${otherKey}`,
      'x-amz-acl=public-read',
      'X-Amz-Meta-Svc-Encrypted=true',
      'x-amz-meta-svc_encrypted=true',
      'X-Amz-Signature=',
      'AWSAccessKeyId=x&Signature=y&Expires=1',
      '&&',
      'a=b;c=d',
      '%00',
    ]);
    request.target += (request.target.includes('?') ? '&' : '?') + extra;
    return 'the base';
  },
};

const lines: Readonly<Record<string, Mutation>> = {
  'another method': (request, choices) => {
    request.method = choices.pick([
      'get',
      'put',
      'DELETE',
      'PUT',
      'POST',
      'PATCH',
      'COPY',
      'CONNECT',
      'TRACE',
      'OPTIONS',
      'PRI',
      'G\u0000T',
      '',
      'GET GET',
      'HEAD',
      'QUERY',
    ]);
    return 'anything of the case';
  },
  'another version': (request, choices) => {
    request.version = choices.pick([
      'HTTP/1.0',
      'HTTP/0.9',
      'HTTP/2.0',
      'HTTP/1.2',
      'http/1.1',
      'HTTP/1.1 x',
      '',
      'ICE/1.0',
      'HTTP/1.10',
    ]);
    return 'the base';
  },
  'other ends of lines': (request, choices) => {
    request.newline = choices.pick(['\n', '\r', '\r\r\n', '\n\r']);
    return 'the base';
  },
};

const hosts: Readonly<Record<string, Mutation>> = {
  'another Host': (request, choices, { otherBucket, host }) => {
    const port = host.split(':')[1];
    setHeader(
      request,
      'host',
      choices.pick([
        `${otherBucket}.localhost:${port}`,
        `${otherBucket}.localhost`,
        `${otherBucket}.LocalHost.:${port}`,
        'elsewhere.test',
        '',
        ' ',
        `${host}, ${host}`,
        `${host}/x`,
        `x@${host}`,
        '[::1]',
        `${otherBucket}.localhost:${port}:1`,
        `${host}\t`,
        'localhost',
        `127.0.0.1.evil.test`,
      ]),
    );
    return 'anything of the case';
  },
  'two Hosts': (request, choices, { otherBucket, host }) => {
    if (!has(request, 'host')) return undefined;
    insert(request, choices, [
      choices.pick(['Host', 'host', 'HOST']),
      choices.pick([`${otherBucket}.localhost`, host]),
    ]);
    return 'the base';
  },
  'no Host': (request) => {
    request.headers = request.headers.filter(([name]) => name.toLowerCase() !== 'host');
    return 'the base';
  },
  'forwarded for another host': (request, choices, { otherBucket }) => {
    insert(request, choices, [
      choices.pick([
        'X-Forwarded-Host',
        'X-Original-URL',
        'X-Rewrite-URL',
        'X-HTTP-Method-Override',
        'Forwarded',
        'Origin',
        'Referer',
        'Sec-Fetch-Site',
      ]),
      choices.pick([
        `${otherBucket}.localhost`,
        `/${otherBucket}/a`,
        'DELETE',
        'host=x',
        'http://evil.test',
        'cross-site',
        'null',
      ]),
    ]);
    return 'the base';
  },
};

const headers: Readonly<Record<string, Mutation>> = {
  'an unsigned header': (request, choices, { bucket, otherKey }) => {
    const header: [string, string] = choices.pick([
      ['x-amz-copy-source', `/${bucket}/${otherKey}`],
      ['X-Amz-Copy-Source', `${bucket}/${otherKey}`],
      ['x-amz-acl', 'public-read'],
      ['x-amz-metadata-directive', 'REPLACE'],
      ['x-amz-meta-svc-encrypted', 'false'],
      ['x-amz-meta-svc_encrypted', 'true'],
      ['x-amz-meta-svc-wrapped-dek', 'vault:v1:AAAA'],
      ['x_amz_acl', 'public-read'],
      ['x-amz-storage-class', 'GLACIER'],
      ['x-amz-website-redirect-location', 'http://evil.test/'],
      ['x-amz-tagging', 'a=b'],
      ['x-amz-write-offset-bytes', '0'],
      ['x-amz-rename-source', `/${bucket}/${otherKey}`],
      ['x-amz-object-lock-mode', 'COMPLIANCE'],
      ['x-amz-security-token', 'x'],
      ['x-amz-mp-object-size', '1'],
      ['x-amz-bypass-governance-retention', 'true'],
      ['x-amz-grant-full-control', 'uri=http://acs.amazonaws.com/groups/global/AllUsers'],
    ]);
    insert(request, choices, header);
    return 'anything of the case';
  },
  'a header twice': (request, choices) => {
    const [name, value] = aHeader(request, choices) ?? ['x', 'y'];
    insert(request, choices, [
      choices.pick([name, name.toUpperCase()]),
      choices.pick([value, '', 'x', value.replace(/[0-9a-f]{4}$/, '0000')]),
    ]);
    return 'the base';
  },
  'a header less': (request, choices) => {
    request.headers.splice(choices.below(request.headers.length), 1);
    return 'the base';
  },
  'a header edited': (request, choices) => {
    const header = aHeader(request, choices);
    if (header === undefined) return undefined;
    const [, value] = header;
    const at = choices.below(value.length + 1);
    header[1] = choices.pick([
      value.slice(0, at) +
        choices.pick(['0', 'a', ' ', '\t', ',', ';', '=', '\0', '\x7f', '\xe4', '%20', '\r\n ']) +
        value.slice(at),
      value.slice(0, at) + value.slice(at + 1),
      value.toUpperCase(),
      ` ${value} `,
      `${value},${value}`,
      '',
    ]);
    return 'anything of the case';
  },
  'a name in another spelling': (request, choices) => {
    const header = aHeader(request, choices);
    if (header === undefined) return undefined;
    header[0] = choices.pick([
      header[0].toUpperCase(),
      header[0].replaceAll('-', '_'),
      `${header[0]} `,
      ` ${header[0]}`,
      `${header[0]}\t`,
      `${header[0]}\0`,
      `\xa0${header[0]}`,
      '',
    ]);
    return 'anything of the case';
  },
  'a folded header': (request, choices, { otherBucket }) => {
    const header = aHeader(request, choices);
    if (header === undefined) return undefined;
    header[1] +=
      choices.pick(['\r\n ', '\r\n\t', '\n ', '\r ']) +
      choices.pick([
        'x',
        `host: ${otherBucket}.localhost`,
        'transfer-encoding: chunked',
        'content-length: 0',
      ]);
    return 'anything of the case';
  },
  'a line injected': (request, choices, { otherBucket }) => {
    const header = aHeader(request, choices);
    if (header === undefined) return undefined;
    header[1] += `${choices.pick(['\r\n', '\n', '\r'])}${choices.pick([`host: ${otherBucket}.localhost`, 'x-amz-acl: public-read', 'content-length: 5', 'no colon', ': empty'])}`;
    return 'anything of the case';
  },
  'conditions and ranges': (request, choices) => {
    const value = choices.pick([
      'bytes=0-0',
      'bytes=-1',
      'bytes=0-',
      'bytes=5-2',
      'bytes=-0',
      'bytes=0-1,3-4',
      'bytes=0-99999999999999999999',
      'bytes=99999999999999999999-',
      'bytes =0-1',
      'BYTES=0-1',
      'bytes=0 - 1',
      'bytes=+0-1',
      'bytes=0x0-0x1',
      'items=0-1',
      'bytes=',
      'bytes=-',
      'bytes=1',
      'bytes=\u0660-1',
      '',
    ]);
    insert(
      request,
      choices,
      choices.pick([
        ['Range', value],
        ['range', value],
        ['If-Match', '*'],
        ['If-None-Match', '*'],
        ['If-Range', '"x"'],
        ['If-Modified-Since', 'never'],
        ['If-Unmodified-Since', 'Thu, 01 Jan 1970 00:00:00 GMT'],
      ]),
    );
    return 'the base';
  },
  'a huge head': (request, choices) => {
    if (choices.chance(0.5))
      insert(request, choices, ['x-padding', 'x'.repeat(choices.pick([8_000, 17_000, 70_000]))]);
    else
      for (let count = choices.pick([100, 500, 2500]); count > 0; count--)
        request.headers.push([`x-${count}`, 'y']);
    return 'the base';
  },
  'hop by hop': (request, choices) => {
    insert(
      request,
      choices,
      choices.pick([
        ['Connection', 'x-amz-date, authorization'],
        ['Connection', 'close, host'],
        ['Upgrade', 'h2c'],
        ['Expect', '100-continue'],
        ['Expect', 'x'],
        ['TE', 'trailers'],
        ['Trailer', 'authorization'],
        ['Keep-Alive', 'timeout=0'],
        ['Proxy-Connection', 'keep-alive'],
        ['HTTP2-Settings', 'AAMAAABkAARAAAAAAAIAAAAA'],
      ]),
    );
    return 'the base';
  },
};

/** A request of its own behind the first, as a server before the proxy could miss it. */
const smuggled = ({ otherBucket, otherKey, host, bucket }: Surroundings, choices: Choices) =>
  Buffer.from(
    choices.pick([
      `GET /${otherBucket}/${otherKey} HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
      `DELETE /${bucket}/${otherKey} HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
      `PUT /${bucket}/smuggled HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 5\r\n\r\nhello`,
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

const callerKey = 'AKHOSTILECALLER';

export const mutations: Readonly<Record<string, Mutation>> = {
  ...targets,
  ...lines,
  ...hosts,
  ...headers,
  ...framings,
  ...chunkGames,
  ...signatureGames,
};
