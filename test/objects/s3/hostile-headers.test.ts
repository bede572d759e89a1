import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { metadataPrefix } from '../../../src/objects/format/metadata.ts';
import { expectations } from '../../../src/objects/s3/checksum.ts';
import { S3Error } from '../../../src/objects/s3/error.ts';
import { userMetadata, userMetadataSize, writeHeadersUpstream } from '../../../src/objects/s3/headers.ts';
import { parseRange, resolveRange } from '../../../src/objects/s3/range.ts';
import { announcedLength, payloadMode } from '../../../src/objects/s3/sigv4-sign.ts';
import { SignatureVerifier } from '../../../src/objects/s3/sigv4-verify.ts';

const test = suite('headers that anybody may send');
const runs = { numRuns: 2000 };

const name = fc.oneof(
  fc.constantFrom(
    ...['authorization', 'content-encoding', 'content-length', 'content-md5', 'host', 'if-match', 'range'],
    ...['connection', 'transfer-encoding', 'x-amz-content-sha256', 'x-amz-copy-source', 'x-amz-date'],
    ...['x-amz-trailer', 'x-amz-decoded-content-length', 'x-amz-checksum-crc32', 'x-amz-checksum-sha256'],
    ...['x-amz-security-token', 'x-amz-acl', 'x-amz-meta-own', 'x-amz-meta-svc-encrypted'],
    ...[
      'x-amz-meta-svc-wrapped-dek',
      'x-amz-meta-svc-',
      '__proto__',
      'constructor',
      'x-amz-checksum-__proto__',
    ],
  ),
  fc.string({ unit: 'grapheme-ascii', maxLength: 20 }),
);
const value = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.constantFrom(
    ...['STREAMING-UNSIGNED-PAYLOAD-TRAILER', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', 'UNSIGNED-PAYLOAD'],
    ...[
      'AAAAAA==',
      '-1',
      '0',
      '999999999999999999999',
      '20130524T000000Z',
      'x-amz-checksum-crc32',
      'toString',
    ],
    'AWS4-HMAC-SHA256 Credential=a/20130524/r/s3/aws4_request, SignedHeaders=host, Signature=',
  ),
);
const headers = fc
  .array(fc.tuple(name, value), { maxLength: 8 })
  .map((entries) => Object.fromEntries(entries.map(([key, text]) => [key.toLowerCase(), text])));

/** What it returns, or undefined for an S3 error of the 4xx or 501; anything else fails. */
function answerOf<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    assert.instance(error, S3Error, String(error));
    const { status } = error as S3Error;
    assert.ok((status >= 400 && status < 500) || status === 501, `${status}`);
    return undefined;
  }
}

test('what they announce about the body is read or refused', () => {
  const property = fc.property(headers, (sent) => {
    const mode = answerOf(() => payloadMode(sent['x-amz-content-sha256']));
    if (mode === undefined) return;
    const length = answerOf(() => announcedLength(sent, mode));
    assert.ok(length === undefined || (Number.isSafeInteger(length) && length >= 0));
    for (const { algorithm, value: digest } of answerOf(() => expectations(sent, mode)) ?? []) {
      assert.type(algorithm, 'string');
      assert.ok(digest === undefined || digest.length > 0);
    }
  });
  fc.assert(property, runs);
});

test('no signature, framing, checksum or svc metadata of a caller gets to the store', () => {
  const mine = /^(authorization|host|connection|transfer-encoding|content-length|content-md5)$/;
  const property = fc.property(headers, (sent) => {
    for (const [key, text] of Object.entries(writeHeadersUpstream(sent))) {
      assert.not.match(key, mine);
      assert.not.ok(key.startsWith(metadataPrefix) || key.startsWith('x-amz-checksum-'), key);
      assert.not.ok(
        ['x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token', 'x-amz-trailer'].includes(key),
      );
      if (key === 'content-encoding') assert.not.match(text.toLowerCase(), /(^|,)\s*aws-chunked\s*(,|$)/);
    }
  });
  fc.assert(property, runs);
});

test('user metadata is counted in full, and the names of svc are never among it', () => {
  const property = fc.property(headers, (sent) => {
    const own = userMetadata(sent);
    assert.not.ok(Object.keys(own).some((key) => key.startsWith(metadataPrefix)));
    assert.ok(userMetadataSize(sent) >= userMetadataSize(own));
  });
  fc.assert(property, runs);
});

test('a range is none, cannot be satisfied, or lies within the object', () => {
  const digits = fc.stringMatching(/^\d{0,20}$/);
  const text = fc.oneof(
    value,
    fc.tuple(digits, digits).map(([from, to]) => `bytes=${from}-${to}`),
  );
  const property = fc.property(text, fc.maxSafeNat(), (header, size) => {
    const range = parseRange(header);
    const resolved = range && resolveRange(range, size);
    if (resolved === undefined) return;
    if (resolved === 'whole') return assert.is(size, 0);
    assert.ok(resolved.start >= 0 && resolved.start <= resolved.end && resolved.end < size, header);
  });
  fc.assert(property, runs);
});

test('whatever stands for a signature, it is refused', () => {
  const verifier = new SignatureVerifier((id) => (id === 'a' ? 'the-secret' : undefined));
  const query = fc
    .array(
      fc.tuple(
        fc.constantFrom(
          'X-Amz-Signature',
          'X-Amz-Algorithm',
          'X-Amz-Credential',
          'X-Amz-Expires',
          'X-Amz-Date',
        ),
        value,
      ),
      { maxLength: 6 },
    )
    .map((entries) => new URLSearchParams(entries).toString());
  const property = fc.property(headers, query, (sent, rawQuery) => {
    const verified = answerOf(() =>
      verifier.verify({ method: 'GET', rawPath: '/b/k', rawQuery, headers: sent }),
    );
    assert.is(verified, undefined);
  });
  fc.assert(property, runs);
});

test.run();
