import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { accessesTo, parseMirrors } from '../../../src/cluster/images/endpoint.ts';
import { lookUp } from '../../../src/cluster/images/look-up.ts';
import { parseImageReference } from '../../../src/cluster/images/reference.ts';
import type { RegistryCredential } from '../../../src/cluster/images/registry-credentials.ts';
import {
  createRegistryHttpClient,
  type RegistryHttpClient,
} from '../../../src/cluster/images/registry-http-client.ts';
import { contentOf, entryOf, makeImage, makeIndex } from '../../support/registry-images.ts';
import { waitFor } from '../../support/wait-for.ts';
import { answer, type FakeRegistry, send, startFakeRegistry } from './fake-registry.ts';

export const idle = true;

interface Context {
  registry: FakeRegistry;
  other: FakeRegistry;
  wire: RegistryHttpClient;
}

const test = suite<Context>('registries that do as they like');

test.before.each(async (context) => {
  context.registry = await startFakeRegistry();
  context.other = await startFakeRegistry();
  context.wire = createRegistryHttpClient({ local: true });
});
test.after.each(async ({ registry, other, wire }) => {
  wire?.close();
  await registry?.stop();
  await other?.stop();
});

interface Asked {
  readonly suffix?: string;
  readonly user?: boolean;
  readonly mirrors?: readonly string[];
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

async function ask({ registry, wire }: Context, asked: Asked = {}) {
  const { suffix = ':v1', user = false, mirrors = [], timeoutMs = 15_000 } = asked;
  const reference = parseImageReference(`${registry.host}/team/app${suffix}`);
  const key = { key: registry.host, username: 'alice', password: 'alice-password' };
  const credentials: RegistryCredential[] = user ? [key] : [];
  const found = await lookUp(reference, accessesTo(reference, parseMirrors(mirrors), credentials), {
    ...{ client: wire, timeoutMs, architecture: undefined, known: () => undefined },
    signal: asked.signal ?? new AbortController().signal,
  });
  return found.command.entrypoint;
}

async function refused(asking: Promise<unknown>): Promise<string> {
  try {
    await asking;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code} ${message}`;
  }
  throw new Error('it was found');
}

const right = ['/right'];
const evil = makeImage({ entrypoint: ['/evil'] });
const authorization = ({ requests }: FakeRegistry) => requests.map(({ headers }) => headers.authorization);

test('are believed where digests bear them out', async (context) => {
  assert.equal(await ask(context), right);
  assert.equal(await ask(context, { suffix: `@${context.registry.image.manifest.digest}` }), right);
});

test('cannot pass another manifest or configuration off for what a digest names', async (context) => {
  const { registry } = context;
  const { manifest, blobs } = registry.image;
  const [config] = blobs;
  registry.on(new RegExp(`manifests/${manifest.digest}`), send(evil.manifest));
  assert.match(await refused(ask(context)), /REGISTRY_REFUSED .*has another digest/);
  registry.on(new RegExp(`manifests/${manifest.digest}`), send(manifest));
  registry.on(new RegExp(`blobs/${config?.digest}`), send(evil.blobs[0] as never));
  assert.match(await refused(ask(context)), /has another digest/);
});

test('that give no digest are asked for the whole manifest', async (context) => {
  context.registry.on(/manifests\/v1$/, send(context.registry.image.manifest));
  assert.equal(await ask(context), right);
  context.registry.on(
    /manifests\/v1$/,
    send(context.registry.image.manifest, { 'docker-content-digest': 'x' }),
  );
  assert.equal(await ask(context), right);
});

test('cannot fill the memory', async (context) => {
  let sent = 0;
  context.registry.on(/manifests\/sha256/, (_request, response) => {
    const chunk = Buffer.alloc(256 * 1024, 0x20);
    const more = () => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
    };
    response.on('drain', more).on('error', () => {});
    more();
  });
  assert.match(await refused(ask(context)), /REGISTRY_REFUSED .*more than 1048576 bytes/);
  assert.ok(sent < 64 * 1024 * 1024);
});

test('cannot nest indexes', async (context) => {
  const { registry } = context;
  const inner = makeIndex([entryOf(registry.image)]);
  const outer = makeIndex([entryOf({ ...registry.image, manifest: inner })]);
  registry.on(/manifests\/v1$/, send(outer));
  for (const index of [inner, outer]) registry.on(new RegExp(`manifests/${index.digest}`), send(index));
  assert.match(await refused(ask(context)), /index contains another index/);
});

test('are given a password only when they ask for it, and other hosts never', async (context) => {
  const { registry, other } = context;
  const [config] = registry.image.blobs;
  const challenge = { 'www-authenticate': 'Basic realm="r"' };
  registry.on(/manifests\/v1$/, (request, response) =>
    request.headers.authorization === undefined
      ? answer(401, challenge)(request, response)
      : send(registry.image.manifest)(request, response),
  );
  registry.on(/blobs/, answer(307, { location: `${other.url}/storage?signature=x` }));
  other.on(/storage/, send(config as never));
  assert.equal(await ask(context, { user: true }), right);
  assert.equal(authorization(registry).slice(0, 2), [undefined, 'Basic YWxpY2U6YWxpY2UtcGFzc3dvcmQ=']);
  assert.equal(authorization(other), [undefined]);
  other.on(/storage/, answer(401, challenge));
  assert.match(await refused(ask(context, { user: true })), /REGISTRY_DENIED/);
  assert.ok(authorization(other).every((header) => header === undefined));
});

test('lead only to where it is safe to go, and not without end', async (context) => {
  const { registry } = context;
  const password = registry.url.replace('//', '//alice:secret@');
  for (const location of [
    'http://10.0.0.1/x',
    'file:///etc/passwd',
    'ftp://127.0.0.1/x',
    `${password}/x`,
    '',
  ]) {
    registry.on(/blobs/, answer(302, location === '' ? {} : { location }));
    assert.match(await refused(ask(context)), /REGISTRY_REFUSED .*not trusted/, location);
  }
  registry.on(/blobs/, answer(302, { location: '/v2/team/app/blobs/x' }));
  assert.match(await refused(ask(context)), /without end/);
  assert.ok(registry.requests.length < 30);
});

/** A registry behind a token service, which gives a token only to alice. */
function behindTokens(
  { registry, other }: Context,
  parameters = ',service="s",scope="repository:team/app:pull"',
) {
  const realm = `${other.url}/token`;
  registry.on(/v2/, (request, response) => {
    const isIn = request.headers.authorization === 'Bearer good-token-of-alice';
    const { manifest, blobs } = registry.image;
    const content = [manifest, ...blobs].find(({ digest }) => request.url?.includes(digest)) ?? manifest;
    const refuse = answer(401, { 'www-authenticate': `Bearer realm="${realm}"${parameters}` });
    (isIn ? send(content) : refuse)(request, response);
  });
  other.on(/token/, (request, response) =>
    answer(
      request.headers.authorization === 'Basic YWxpY2U6YWxpY2UtcGFzc3dvcmQ=' ? 200 : 401,
      {},
      '{"token":"good-token-of-alice"}',
    )(request, response),
  );
}

test('are shown the token of their token service', async (context) => {
  behindTokens(context);
  assert.equal(await ask(context, { user: true }), right);
  assert.equal(context.other.asked, ['GET /token?service=s&scope=repository%3Ateam%2Fapp%3Apull']);
  assert.match(await refused(ask(context)), /REGISTRY_DENIED .* answers 401/);
});

test('without a scope are asked for the right to pull, and no more', async (context) => {
  behindTokens(context, '');
  assert.equal(await ask(context, { user: true }), right);
  assert.equal(context.other.asked, ['GET /token?scope=repository%3Ateam%2Fapp%3Apull']);
});

test('cannot name a token service that would be reached in the clear, nor send the password on', async (context) => {
  const { registry, other } = context;
  for (const realm of [
    'http://10.0.0.1/token',
    'ftp://127.0.0.1/',
    'token',
    `http://u:p@${other.host}/token`,
  ]) {
    registry.on(/v2/, answer(401, { 'www-authenticate': `Bearer realm="${realm}"` }));
    assert.match(await refused(ask(context, { user: true })), /token service that is not trusted/, realm);
  }
  behindTokens(context);
  other.on(/token/, answer(307, { location: `${registry.url}/stolen` }));
  assert.match(await refused(ask(context, { user: true })), /answers 307/);
  assert.not.ok(registry.asked.some((path) => path.includes('stolen')));
});

test('get no token that is none', async (context) => {
  behindTokens(context);
  for (const body of ['', 'alice-password', '{}', '[]', '{"token":"a\\r\\nb"}', '{"token":7}']) {
    context.other.on(/token/, answer(200, {}, body));
    const failure = await refused(ask(context, { user: true }));
    assert.match(failure, /REGISTRY_REFUSED .*gives no token/);
    assert.not.match(failure, /password/);
  }
});

test('that hide an image from one user are asked as the next', async (context) => {
  const { registry } = context;
  registry.on(/manifests\/v1$/, (request, response) =>
    (request.headers.authorization ? answer(404) : answer(401, { 'www-authenticate': 'Basic realm=r' }))(
      request,
      response,
    ),
  );
  assert.match(await refused(ask(context, { user: true })), /REGISTRY_MISSING .* answers 404/);
});

test('that fail for a while are asked again, and then left alone', async (context) => {
  const { registry } = context;
  let failures = 2;
  registry.on(/manifests\/v1$/, (request, response) =>
    (failures-- > 0 ? answer(503) : send(registry.image.manifest))(request, response),
  );
  assert.equal(await ask(context), right);
  failures = 100;
  assert.match(await refused(ask(context)), /REGISTRY_UNAVAILABLE .* answers 503/);
  assert.is(failures, 97);
});

test('that stall leave time for the next place', async (context) => {
  const { other, registry } = context;
  other.on(/./, () => {});
  const mirrors = [`${registry.host}=${other.url}`];
  assert.equal(await ask(context, { mirrors, timeoutMs: 3_000 }), right);
  assert.ok(other.asked[0]?.includes(`ns=${encodeURIComponent(registry.host)}`));
  registry.on(/./, () => {});
  assert.match(
    await refused(ask(context, { timeoutMs: 300 })),
    /REGISTRY_UNAVAILABLE .*does not answer in time/,
  );
});

test('that are mirrors are never shown what is for the registry', async (context) => {
  const { other, registry } = context;
  other.on(/v2/, answer(401, { 'www-authenticate': 'Basic realm="r"' }));
  assert.equal(await ask(context, { user: true, mirrors: [`${registry.host}=${other.url}`] }), right);
  assert.ok(other.requests.length > 0);
  assert.ok(authorization(other).every((header) => header === undefined));
});

test('have at most sixteen requests at a time to answer', async (context) => {
  const { registry } = context;
  const held: (() => void)[] = [];
  let most = 0;
  registry.on(/manifests\/v1$/, (request, response) => {
    held.push(() => send(registry.image.manifest)(request, response));
    most = Math.max(most, held.length);
  });
  let done = false;
  const all = Promise.all(Array.from({ length: 20 }, () => ask(context))).finally(() => {
    done = true;
  });
  await waitFor('sixteen requests', () => held.length === 16);
  await waitFor('all answers', () => {
    held.shift()?.();
    return done;
  });
  await all;
  assert.is(most, 16);
});

test('are left at once when the operator ends', async (context) => {
  context.registry.on(/./, () => {});
  const ending = new AbortController();
  const asking = refused(ask(context, { signal: ending.signal }));
  await waitFor('the request', () => context.registry.requests.length > 0);
  ending.abort(Object.assign(new Error('ended'), { code: 'END' }));
  assert.is(await asking, 'END ended');
});

test('that speak of something else are refused with what it is', async (context) => {
  const { registry } = context;
  const page = contentOf(Buffer.from('<html>'), 'text/html');
  registry.on(/manifests\/v1$/, send(page));
  registry.on(new RegExp(`manifests/${page.digest}`), send(page));
  assert.match(await refused(ask(context)), /REGISTRY_REFUSED .*the manifest is no JSON/);
  registry.on(/manifests\/v1$/, answer(418, {}, '{"errors":[{"code":"<b>"}]}'));
  assert.is(await refused(ask(context)), `REGISTRY_REFUSED ${registry.host} answers 418`);
});

test.run();
