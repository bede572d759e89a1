import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { SvcError } from '../../../../src/core/errors.ts';
import {
  type AuthorityFile,
  followAuthorityFile,
} from '../../../../src/plugins/operator/controllers/ca-config-map.ts';
import { createHealth } from '../../../../src/runtime/health/health.ts';
import { createCertificateAuthority } from '../../../support/certificates.ts';
import { quietLog } from '../../../support/quiet-log.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';

interface Rig {
  folder: TemporaryFolder;
  path: string;
  stop: AbortController;
  file: AuthorityFile | undefined;
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
async function follow(rig: Rig): Promise<AuthorityFile> {
  const { path, stop } = rig;
  rig.file = await followAuthorityFile({ path, log: quietLog, health, signal: stop.signal, everyMs: 5 });
  return rig.file;
}

test('takes certificates and leaves out all else, keys above all', async (rig) => {
  writeFileSync(rig.path, `# comment\n${one.cert}${one.issue({ commonName: 'x' }).key}${other.cert}`);
  const text = (await follow(rig)).current();
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
  const before = file.current();
  let changes = 0;
  file.onChange(() => changes++);
  rmSync(rig.path);
  await waitFor('degradation', () => health.snapshot().degraded['ca-file']);
  assert.is(file.current(), before);
  writeFileSync(rig.path, one.cert);
  await waitFor('recovery', () => !health.snapshot().degraded['ca-file']);
  assert.is(changes, 0);
  writeFileSync(rig.path, other.cert);
  await waitFor('the change', () => changes === 1);
  assert.match(file.current(), other.cert.trim());
});

test.run();
