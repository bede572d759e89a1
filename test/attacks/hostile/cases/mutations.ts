import { framingMutations } from './framing-mutations.ts';
import { aHeader, has, insert, type Mutation, pathOf, queryOf, setHeader } from './mutation.ts';

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
    const [removed] = request.headers.splice(choices.below(request.headers.length), 1);
    // of two Hosts the other one is left, and names what is asked for
    return removed?.[0].toLowerCase() === 'host' && has(request, 'host')
      ? 'anything of the case'
      : 'the base';
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

export const mutations: Readonly<Record<string, Mutation>> = {
  ...targets,
  ...lines,
  ...hosts,
  ...headers,
  ...framingMutations,
};
