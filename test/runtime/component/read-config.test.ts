import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type RunOptions, readConfig } from '../../../src/runtime/component/read-config.ts';
import { secrets } from '../../../src/runtime/logging/secrets.ts';
import { integer, type Settings, text } from '../../../src/runtime/settings/setting.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const settings = {
  size: { variable: 'DEMO_SIZE', flag: 'size', summary: '', fallback: '1', ...integer(1, 100) },
  password: { variable: 'DEMO_PASSWORD', summary: '', secret: true, ...text() },
} satisfies Settings;

const reading = suite('configuration of a component');
const folder = temporaryFolder('read-config');

reading.after(() => folder.remove());

reading('has the defaults of the common settings', async () => {
  const { own, common, healthAddress } = await read({ env: {} });
  assert.is(own.size, 1);
  assert.equal([common.logLevel, common.logFormat, common.shutdownGrace], ['info', undefined, 25_000]);
  assert.is(healthAddress, undefined);
});

reading('prefers --config to SVC_CONFIG', async () => {
  const [flag, variable] = [file('flag.yaml', 7), file('variable.yaml', 8)];
  assert.is((await read({ env: { SVC_CONFIG: variable }, configFile: flag })).own.size, 7);
  assert.is((await read({ env: { SVC_CONFIG: variable } })).own.size, 8);
  assert.is((await read({ env: { SVC_CONFIG: '' } })).own.size, 1);
});

reading('makes secret settings known to the redaction', async () => {
  await read({ env: { DEMO_PASSWORD: 'pa55word-4711' } });
  assert.is(secrets.redact('pa55word-4711'), '[redacted]');
});

function read(options: RunOptions) {
  return readConfig({ name: 'demo', settings }, options);
}

function file(name: string, size: number): string {
  const path = join(folder.path, name);
  writeFileSync(path, `demo:\n  size: ${size}\n`);
  return path;
}

reading.run();
