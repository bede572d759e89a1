import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Authorities,
  type AuthorityPaths,
  followAuthorityFiles,
} from '../../../../src/plugins/operator/controllers/authority-files.ts';
import type { SvcError } from '../../../../src/runtime/errors.ts';
import { createHealth } from '../../../../src/runtime/health/health.ts';
import { createCertificateAuthority } from '../../../support/certificates.ts';
import { quietLog } from '../../../support/quiet-log.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';

interface Rig {
  folder: TemporaryFolder;
  path: string;
  stop: AbortController;
  file: Authorities | undefined;
}

const test = suite<Rig>('authority file');
const [one, other] = [createCertificateAuthority('one'), createCertificateAuthority('other')];

test.before.each((rig) => {
  rig.folder = temporaryFolder('authority-file');
  rig.path = join(rig.folder.path, 'ca.pem');
  rig.stop = new AbortController();
  rig.file = undefined;
});

test.after.each(async ({ folder, stop, file }) => {
  stop.abort();
  await file?.closed;
  await folder.remove();
});

const health = createHealth();
const none: AuthorityPaths = { secretsServer: undefined, objectStore: undefined };

const follow = (rig: Rig): Promise<Authorities> => followAll({ ...none, secretsServer: rig.path }, rig);

async function followAll(paths: AuthorityPaths, rig: Rig): Promise<Authorities> {
  const { signal } = rig.stop;
  const all = await followAuthorityFiles(paths, { log: quietLog, health, signal, everyMs: 5 });
  rig.file = all;
  if (all === undefined) throw new Error('no file is followed');
  return all;
}

const caOf = (all: Authorities) => all.current()['ca.crt'] ?? '';

test('takes certificates and leaves out all else, keys above all', async (rig) => {
  writeFileSync(rig.path, `# comment\n${one.cert}${one.issue({ commonName: 'x' }).key}${other.cert}`);
  const text = caOf(await follow(rig));
  assert.is(text.match(/BEGIN CERTIFICATE/g)?.length, 2);
  assert.not.match(text, 'KEY');
  assert.not.match(text, 'comment');
});

test('says at the start what is wrong with it', async (rig) => {
  const garbled = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  for (const text of [undefined, '', garbled]) {
    if (text !== undefined) writeFileSync(rig.path, text);
    const error = await follow(rig).catch((thrown: SvcError) => thrown);
    assert.is((error as SvcError).code, 'CA_FILE_UNUSABLE');
    assert.is((error as SvcError).exitStatus, 78);
  }
});

test('tells of a change, and keeps what it had while the file cannot be used', async (rig) => {
  writeFileSync(rig.path, one.cert);
  const file = await follow(rig);
  const before = caOf(file);
  let changes = 0;
  file.onChange(() => changes++);
  rmSync(rig.path);
  await waitFor('degradation', () => health.snapshot().degraded['ca-file']);
  assert.is(caOf(file), before);
  writeFileSync(rig.path, one.cert);
  await waitFor('recovery', () => !health.snapshot().degraded['ca-file']);
  assert.is(changes, 0);
  writeFileSync(rig.path, other.cert);
  await waitFor('the change', () => changes === 1);
  assert.match(caOf(file), other.cert.trim());
});

test('keeps those of the object stores apart, and says which of the files is wrong', async (rig) => {
  const objectStore = join(rig.folder.path, 'store.pem');
  writeFileSync(rig.path, one.cert);
  writeFileSync(objectStore, other.cert);
  const both = await followAll({ secretsServer: rig.path, objectStore }, rig);
  assert.equal(Object.keys(both.current()), ['ca.crt', 'store-ca.crt']);
  assert.match(both.current()['store-ca.crt'] ?? '', other.cert.trim());
  writeFileSync(objectStore, '');
  await waitFor('degradation', () => health.snapshot().degraded['store-ca-file']);
  assert.not(health.snapshot().degraded['ca-file']);
  assert.match(both.current()['store-ca.crt'] ?? '', other.cert.trim());
  const error = await followAll({ ...none, objectStore }, rig).catch((thrown: SvcError) => thrown);
  assert.is((error as SvcError).code, 'STORE_CA_FILE_UNUSABLE');
  assert.match((error as SvcError).message, /SVC_OPERATOR_STORE_CA_FILE/);
  assert.is(await followAuthorityFiles(none, { log: quietLog, health, signal: rig.stop.signal }), undefined);
});

test.run();
