import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { accessesTo, parseMirrors } from '../../../src/cluster/images/endpoint.ts';
import { lookUp } from '../../../src/cluster/images/look-up.ts';
import { parseImageReference } from '../../../src/cluster/images/reference.ts';
import { createRegistryHttpClient } from '../../../src/cluster/images/registry-http-client.ts';
import type { SvcError } from '../../../src/runtime/errors.ts';
import { createCertificateAuthority } from '../../support/certificates.ts';
import { type Registry, registryUsers, startRegistry } from '../../support/registry.ts';

const test = suite<{ registry: Registry }>('a registry behind TLS');
const authority = createCertificateAuthority();
const known = getCACertificates('default');

test.before(async (context) => {
  context.registry = await startRegistry({ users: true, authority });
  await context.registry.push('team/app', 'v1', { entrypoint: ['/app'] });
});
test.after(async ({ registry }) => {
  setDefaultCACertificates(known);
  await registry?.stop();
});

/** As a registry of another name, whose mirror it is: one of its own would be taken for one without TLS here. */
async function ask({ host, url }: Registry, authorities?: string) {
  const reference = parseImageReference('docker.io/team/app:v1');
  const credential = { key: host, username: 'bob', password: registryUsers.bob };
  const [...ways] = accessesTo(reference, parseMirrors([`docker.io=${url}`]), [credential]);
  const wire = createRegistryHttpClient({ authorities, local: true });
  try {
    return await lookUp(
      reference,
      ways.filter(({ endpoint }) => endpoint.mirrorOf),
      {
        ...{ client: wire, architecture: undefined, known: () => undefined, timeoutMs: 20_000 },
        signal: new AbortController().signal,
      },
    );
  } finally {
    wire.close();
  }
}

test('is read when its authority is known', async ({ registry }) => {
  setDefaultCACertificates([...known, authority.cert]);
  assert.equal((await ask(registry)).command.entrypoint, ['/app']);
});

test('is read when its authority is given to the look-up alone', async ({ registry }) => {
  setDefaultCACertificates(known);
  assert.equal((await ask(registry, authority.cert)).command.entrypoint, ['/app']);
  const stranger = createCertificateAuthority('stranger').cert;
  assert.match(await ask(registry, stranger).then(String, String), /does not answer/);
});

test('is refused when it is not', async ({ registry }) => {
  setDefaultCACertificates(known);
  try {
    await ask(registry);
  } catch (error) {
    assert.match((error as SvcError).nextStep ?? '', /operator\.registryCA/);
    assert.match((error as Error).message, /does not answer \((UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET)/);
    return;
  }
  assert.unreachable();
});

test.run();
