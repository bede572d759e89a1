import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCertificateAuthority } from '../../support/certificates.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import type { SvcVault } from '../../support/types.ts';
import { type FakeKeyServer, fakeKeyServer, type Handler } from '../fake-key-server.ts';
import { answers } from './answers.ts';
import { type Staying, staying } from './staying.ts';

export const idle = true;
export const slow = true;

interface Context {
  server: FakeKeyServer;
  folder: TemporaryFolder;
  vault: SvcVault;
}

const test = suite<Context>('what the proxy and the wrapper wait for when they start');
const login = 'auth/kubernetes/login';
const usual = answers({});

test.before.each(async (context) => {
  context.server = await fakeKeyServer(usual);
  context.folder = temporaryFolder('component-waits');
  const jwtPath = join(context.folder.path, 'jwt');
  writeFileSync(jwtPath, 'header.payload.signature');
  const kubernetes = { role: 'svc', mountPath: 'auth/kubernetes', jwtPath };
  context.vault = { addr: context.server.url.origin, kubernetes };
});
test.after.each(async ({ server, folder }) => {
  await server.stop();
  await folder.remove();
});

function each(name: string, check: (component: Staying, context: Context) => Promise<void>): void {
  for (const component of staying) test(`${component.name}: ${name}`, (context) => check(component, context));
}

/** Answers logins so in turn, and then as usual. */
function loginsAnswered(server: FakeKeyServer, ...handlers: readonly Handler[]): void {
  const logIn: Handler = (request, response) =>
    (handlers[server.to(login).length - 1] ?? usual)(request, response);
  server.handler = answers({ [login]: logIn });
}

each('412, and a 403 of something in between', async ({ run }, { server, vault }) => {
  loginsAnswered(
    server,
    () => ({ status: 412, json: { errors: ['required index state not present'] } }),
    (_request, response) => {
      response.writeHead(403, { 'content-type': 'text/html' }).end('<html>');
      return undefined;
    },
  );
  await run(vault);
  assert.is(server.to(login).length, 3);
});

each('as long as Retry-After says', async ({ run }, { server, vault }) => {
  let refusedAt = 0;
  let pauseMs = 0;
  loginsAnswered(
    server,
    (_request, response) => {
      refusedAt = performance.now();
      response.setHeader('retry-after', '2');
      return { status: 503, json: { errors: ['busy'] } };
    },
    (request, response) => {
      pauseMs = performance.now() - refusedAt;
      return usual(request, response);
    },
  );
  await run(vault);
  assert.ok(pauseMs >= 1_900, `asked again after ${pauseMs} ms`);
});

each('a login that is refused for now, and says what may be away', async ({ run }, { server, vault }) => {
  loginsAnswered(server, () => ({ status: 403, json: { errors: ['permission denied'] } }));
  let told = '';
  await run(vault, (output) => {
    told = output;
  });
  assert.is(server.to(login).length, 2);
  assert.match(told, /as role svc: permission denied/);
  assert.match(told, 'TokenReview');
});

each('a token file that appears later', async ({ run }, { folder, vault }) => {
  const tokenFile = join(folder.path, 'token');
  await run({ addr: vault.addr, tokenFile }, (output) => {
    assert.match(output, /token cannot be read \(ENOENT\)/);
    writeFileSync(tokenFile, 's.token\n');
  });
});

each('a certificate that is not valid yet', async ({ run }, { folder, vault }) => {
  const authority = createCertificateAuthority();
  const caFile = join(folder.path, 'ca.pem');
  writeFileSync(caFile, authority.cert);
  const notBefore = new Date(Date.now() + 5_000);
  const server = await fakeKeyServer(usual, { ...authority.issue({ commonName: 'vault', notBefore }) });
  try {
    await run({ ...vault, addr: server.url.origin, caFile }, (output) =>
      assert.match(output, 'CERT_NOT_YET_VALID'),
    );
  } finally {
    await server.stop();
  }
});

test.run();
