import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { formatImageReference, parseImageReference } from '../../../src/cluster/images/reference.ts';

const test = suite('image references');
const hex = 'a'.repeat(64);
const digest = `sha256:${hex}`;

/** What a name means, in full; as `crane` and the kubelet have it. */
const meanings: readonly (readonly [string, string])[] = [
  ['nginx', 'docker.io/library/nginx:latest'],
  ['nginx:1.27', 'docker.io/library/nginx:1.27'],
  ['nginx:5000', 'docker.io/library/nginx:5000'],
  ['team/app', 'docker.io/team/app:latest'],
  ['docker.io/nginx', 'docker.io/library/nginx:latest'],
  ['index.docker.io/nginx', 'docker.io/library/nginx:latest'],
  ['index.docker.io/team/app:v1', 'docker.io/team/app:v1'],
  ['localhost/app', 'localhost/app:latest'],
  ['localhost:5000/app', 'localhost:5000/app:latest'],
  ['localhost', 'docker.io/library/localhost:latest'],
  ['registry.example/app', 'registry.example/app:latest'],
  ['registry:5000/app:v1', 'registry:5000/app:v1'],
  ['registry/app', 'docker.io/registry/app:latest'],
  ['Registry/app', 'Registry/app:latest'],
  ['REGISTRY.example/a/b/c:V1', 'REGISTRY.example/a/b/c:V1'],
  ['127.0.0.1/app', '127.0.0.1/app:latest'],
  ['[::1]:5000/app', '[::1]:5000/app:latest'],
  ['[fe80::1]/app', '[fe80::1]/app:latest'],
  [`nginx@${digest}`, `docker.io/library/nginx@${digest}`],
  [`nginx:1@${digest}`, `docker.io/library/nginx:1@${digest}`],
  [`a.b/c@sha512:${hex}${hex}`, `a.b/c@sha512:${hex}${hex}`],
  ['a__b/c---d.e_f', 'docker.io/a__b/c---d.e_f:latest'],
  [`${hex}/app`, `docker.io/${hex}/app:latest`],
];

test('mean what container runtimes take them for', () => {
  for (const [text, full] of meanings) assert.is(formatImageReference(parseImageReference(text)), full, text);
});

const wrong: readonly (readonly [string, RegExp])[] = [
  ['', /empty/],
  [' nginx', /form/],
  ['nginx ', /form/],
  ['nginx\n', /form/],
  ['Nginx', /lower case/],
  ['team/App', /lower case/],
  ['registry.example/Team/app', /lower case/],
  ['nginx:', /tag/],
  ['nginx:.a', /tag/],
  ['nginx:-a', /tag/],
  ['nginx:a/b', /registry/],
  [`nginx:${'a'.repeat(129)}`, /tag/],
  ['nginx@', /digest/],
  ['nginx@sha256:abc', /digest/],
  [`nginx@sha256:${hex.toUpperCase()}`, /digest/],
  [`nginx@md5:${hex.slice(32)}`, /digest/],
  [`nginx@constructor:${hex}`, /digest/],
  [`nginx@${digest}@${digest}`, /digest/],
  [`nginx@${digest}:v1`, /digest/],
  [hex, /image ID/],
  ['a___b', /form/],
  ['a..b', /form/],
  ['-a', /form/],
  ['a-', /form/],
  ['a/', /form/],
  ['/a', /form/],
  ['a//b', /form/],
  ['https://registry.example/app', /registry/],
  ['registry.example:port/app', /registry/],
  ['registry.example:99999/app', /65535/],
  ['-registry.example/app', /registry/],
  ['registry..example/app', /registry/],
  ['user@registry.example/app', /digest/],
  ['[::1%eth0]/app', /registry/],
  ['registry.example/../app', /form/],
  ['registry.example/a?b', /form/],
  ['registry.example/a#b', /form/],
  ['registry.example/a%2fb', /form/],
  [`a/${'b'.repeat(255)}`, /255/],
  ['a'.repeat(3_000), /too long/],
];

test('are refused with the part that is wrong', () => {
  for (const [text, reason] of wrong) {
    try {
      parseImageReference(text);
    } catch (error) {
      assert.is((error as Error).name, 'ImageError', text);
      assert.match((error as Error).message, reason, text);
      continue;
    }
    assert.unreachable(`${text} was taken`);
  }
});

const word = fc.stringMatching(/^[a-z0-9]{1,8}((\.|_|__|-{1,3})[a-z0-9]{1,8}){0,2}$/);
const registry = fc.oneof(
  fc.stringMatching(/^[a-z0-9]{1,8}(\.[a-zA-Z0-9]{1,8}){1,3}$/),
  fc.constantFrom('localhost', 'docker.io', '10.0.0.1', '[::1]', '[2001:db8::1]', 'HOST'),
);
const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined });
const tag = fc.option(fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,20}$/), { nil: undefined });
const someDigest = fc.option(
  fc.stringMatching(/^[0-9a-f]{64}$/).map((digits) => `sha256:${digits}`),
  { nil: undefined },
);

test('come back as they went, whatever they are made of', () => {
  const parts = fc.record({
    registry,
    port,
    path: fc.array(word, { minLength: 2, maxLength: 4 }),
    tag,
    digest: someDigest,
  });
  fc.assert(
    fc.property(parts, (made) => {
      const host = made.port === undefined ? made.registry : `${made.registry}:${made.port}`;
      const reference = {
        registry: host,
        repository: made.path.join('/'),
        tag: made.tag ?? (made.digest === undefined ? 'latest' : undefined),
        digest: made.digest,
      };
      assert.equal(parseImageReference(formatImageReference(reference)), reference);
    }),
    { numRuns: 500 },
  );
});

test('of whatever text are refused or mean the same when written in full', () => {
  const alphabet = fc.constantFrom(...'aA0.:/@-_[]% \n', 'docker.io/', 'localhost', digest, '::1', 'é');
  fc.assert(
    fc.property(fc.array(alphabet, { maxLength: 12 }), (pieces) => {
      let reference: ReturnType<typeof parseImageReference>;
      try {
        reference = parseImageReference(pieces.join(''));
      } catch (error) {
        assert.is((error as Error).name, 'ImageError');
        return;
      }
      assert.equal(parseImageReference(formatImageReference(reference)), reference);
      assert.ok(
        URL.canParse(`https://${reference.registry}/v2/${reference.repository}`) ||
          reference.registry.startsWith('['),
      );
    }),
    { numRuns: 2_000 },
  );
});

test.run();
