import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { crossOutOpaque } from '../../src/keyserver/answers.ts';

const opaque = suite('what looks random in a text');

function crossedOut(text: string): string {
  const bytes = Buffer.from(text);
  crossOutOpaque(bytes);
  return bytes.toString();
}

opaque('leaves what key servers say', () => {
  for (const text of [
    '',
    'Vault is sealed',
    '1 error occurred:\n\t* permission denied\n\n',
    'invalid role name "payments-service-production-2"',
    'Post "https://kubernetes.default.svc:443/apis/authentication.k8s.io/v1/tokenreviews": dial tcp 10.96.0.1:443: connect: connection refused',
    'x509: certificate signed by unknown authority (possibly because of "crypto/rsa: verification error")',
    'unsupported path secret/data/team-17/database',
    'ключ не найден',
  ])
    assert.is(crossedOut(text), text);
});

opaque('crosses out tokens and random values in every usual encoding, wherever they stand', () => {
  const encodings = ['hex', 'base64url', 'hex of text'] as const;
  const written = (size: number, encoding: (typeof encodings)[number]) =>
    encoding === 'hex of text'
      ? Buffer.from(randomBytes(size).toString('base64url')).toString('hex')
      : randomBytes(size).toString(encoding);
  const around = fc.constantFrom('', ' ', '"', 'token: ', 's.', '/', 'é');
  fc.assert(
    fc.property(
      fc.constantFrom(...encodings),
      fc.integer({ min: 24, max: 80 }),
      around,
      (encoding, size, beside) => {
        const secret = written(size, encoding);
        const text = crossedOut(`${beside}${secret}"}`);
        assert.is(text, `${beside}${'*'.repeat(secret.length)}"}`);
      },
    ),
  );
});

opaque('leaves what is short', () => {
  assert.is(crossedOut('a1B2c3D4e5F6g7H'), 'a1B2c3D4e5F6g7H');
  assert.is(crossedOut('a1B2c3D4e5F6g7H8'), '*'.repeat(16));
});

opaque.run();
