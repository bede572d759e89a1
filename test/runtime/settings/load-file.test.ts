import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadConfigFile } from '../../../src/runtime/component/read-config.ts';
import { SvcError } from '../../../src/runtime/errors.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const files = suite('configuration files');
const folder = temporaryFolder('config');
const path = join(folder.path, 'svc.yaml');

files.after(() => folder.remove());

files('keeps every scalar as the text that stands there', async () => {
  const { content } = await load(
    'proxy:\n  size: 0x10\n  strict: true\n  grace: 010\n  list: [1, ~]\n  none:\n',
  );
  assert.equal(content, {
    proxy: { size: '0x10', strict: 'true', grace: '010', list: ['1', '~'], none: '' },
  });
});

files('an empty file has no content', async () => {
  assert.is((await load('')).content, null);
});

files('names line and column of a syntax error', async () => {
  const error = await refusal('proxy:\n  listen: "unterminated\n');
  assert.is(error.code, 'CONFIG_INVALID');
  assert.is(error.exitStatus, 78);
  assert.match(error.details[0] ?? '', /svc\.yaml:3:\d+: Missing closing/);
});

files('refuses double keys, several documents, unknown tags and aliases without an anchor', async () => {
  const double = await refusal('a:\n  b: 1\n  b: 2\n');
  assert.match(double.details[0] ?? '', /svc\.yaml:3:3: Map keys must be unique/);
  for (const text of ['a: 1\n---\nb: 2\n', 'a: !env X\n', 'a: *nobody\n', '\ta: 1\n']) await refusal(text);
});

files('never quotes the file, which may hold a secret', async () => {
  const secret = 'hvs.4711secret';
  const wrong = [
    `a: *${secret}`,
    `${secret}\na: ${secret}`,
    `a: [${secret}`,
    `@${secret}`,
    `a: "\\q${secret}"`,
  ];
  for (const text of [
    ...wrong,
    `- ${secret}\nfoo: ${secret}`,
    `a: !${secret} x`,
    `%${secret}\n---\na: 1`,
    `%YAML ${secret}\n---\na: 1`,
  ]) {
    const error = await refusal(text);
    const words = [error.message, error.nextStep, ...error.details, String(error.cause)].join('\n');
    assert.not.match(words, secret, text);
  }
});

files('bounds what aliases can blow up to', async () => {
  const level = (name: string, of: string) => `${name}: &${name} [${Array(9).fill(`*${of}`).join(',')}]\n`;
  const bomb = `a: &a [x]\n${['ab', 'bc', 'cd', 'de', 'ef', 'fg'].map(([of = '', name = '']) => level(name, of)).join('')}`;
  await refusal(bomb);
});

files('says why a file cannot be read', async () => {
  const error = await refusalOf(join(folder.path, 'absent.yaml'));
  assert.match(error.message, /absent\.yaml cannot be read \(ENOENT\)/);
  assert.match((await refusalOf(folder.path)).message, /EISDIR/);
});

function load(text: string) {
  writeFileSync(path, text);
  return loadConfigFile(path);
}

function refusal(text: string): Promise<SvcError> {
  writeFileSync(path, text);
  return refusalOf(path);
}

async function refusalOf(file: string): Promise<SvcError> {
  const error = await loadConfigFile(file).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof SvcError) return error;
  throw new Error('the file was not refused', { cause: error });
}

files.run();
