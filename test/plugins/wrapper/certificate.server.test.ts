import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCertificateAuthority } from '../../support/certificates.ts';
import { listen } from '../../support/loopback.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { type Bed, startBed } from './support/bed.ts';

const test = suite('certificates of the secrets server');
const folder = temporaryFolder('certificates');
const authority = createCertificateAuthority('the CA');
const caFile = join(folder.path, 'ca.pem');
let bed: Bed;

test.before(async () => {
  writeFileSync(caFile, authority.cert);
  bed = await startBed();
  await bed.kv.put('app', { KEY: 'one' });
});
test.after(async () => {
  await bed?.stop();
  await folder.remove();
});

/** Ends at once although it might try for a minute: time does not change a certificate. */
async function refusal(addr: string) {
  const run = await bed.run({ vault: { addr, caFile, token: 's.any' }, env: { SVC_STARTUP_TIMEOUT: '60s' } });
  const { code } = await run.exited;
  const [failure] = run.events('start.failed');
  assert.equal(
    [code, failure?.['code'], run.events('secrets.waiting')],
    [78, 'VAULT_CERTIFICATE', []],
    run.output(),
  );
  assert.match(failure?.['nextStep'], 'VAULT_CACERT');
  return failure?.['error'] as string;
}

test('another authority: 78 at once', async () => {
  assert.match(
    await refusal(bed.bao.url),
    /UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED|UNABLE_TO_GET_ISSUER/,
  );
});

test('expired, or for another host: 78 at once', async () => {
  const past = authority.issue({ commonName: 'bao', notAfter: new Date(Date.now() - 86_400_000) });
  const foreign = { commonName: 'bao', dnsNames: ['bao.example.eu'], addresses: ['127.0.0.9'] };
  for (const [{ cert, key }, reason] of [
    [past, /CERT_HAS_EXPIRED/],
    [authority.issue(foreign), /ERR_TLS_CERT_ALTNAME_INVALID/],
  ] as const) {
    const server = createServer({ cert, key }).on('tlsClientError', () => undefined);
    const { url, stop } = await listen(server);
    try {
      assert.match(await refusal(url), reason);
    } finally {
      await stop();
    }
  }
});

test('one that is trusted: runs', async () => {
  const run = await bed.run({ command: ['/bin/true'] });
  assert.is((await run.exited).code, 0, run.output());
});

test.run();
