import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  childEnvironment,
  inheritedEnvironment,
  recordsIn,
} from '../../../../src/plugins/wrapper/prepare-application.ts';
import { wrapperSettings } from '../../../../src/plugins/wrapper/settings.ts';
import { encodeEntries } from '../../../../src/runtime/protocols/secret-records/region-writer.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const test = suite('environment of the application');

const bytes = (...lines: string[]) => lines.map((line) => Buffer.from(line));

function environment(
  inherited: readonly Uint8Array[],
  records: readonly Uint8Array[] = bytes('PASS=a=b'),
  descriptor?: number,
) {
  const { entries, replaced } = childEnvironment({ inherited, records, descriptor });
  return { lines: entries.map((entry) => Buffer.from(entry).toString('latin1')), replaced };
}

test('what is inherited, then the secrets', () => {
  const { lines, replaced } = environment(bytes('PATH=/bin', 'X=1=2', 'EMPTY='));
  assert.equal(lines.slice(1), ['PATH=/bin', 'X=1=2', 'EMPTY=', 'PASS=a=b']);
  assert.equal(replaced, []);
});

test('the first string is harmless and has room', () => {
  assert.match(environment([]).lines[0] ?? '', /^SVC_WRAPPED=-{116}$/);
});

test('the configuration is left out by exact name, the token too, and nothing by its prefix', () => {
  const read = Object.values(wrapperSettings).map(({ variable }) => variable);
  assert.ok(
    read.includes('VAULT_TOKEN') && read.includes('HEALTH_ADDR') && read.includes('SVC_ORIGINAL_ARGS'),
  );
  const theirs = ['SVC_PORT=1', 'VAULT_TOKEN_X=1', 'SVC_APP_SERVICE_HOST=10.0.0.1', 'vault_token=1'];
  const { lines } = environment(bytes(...read.map((name) => `${name}=x`), ...theirs), []);
  assert.equal(lines.slice(1), theirs);
});

test("the wrapper's own variables are not those of a wrapper around it", () => {
  const around = bytes('SVC_SECRET_FD=9', 'SVC_WRAPPED=1');
  assert.equal(environment(around, []).lines.slice(1), []);
  assert.equal(environment(around, [], 5).lines.slice(1), ['SVC_SECRET_FD=5']);
});

test('a secret wins over an inherited variable, and that is told by name', () => {
  const { lines, replaced } = environment(
    bytes('PASS=old', 'B=2', 'PASS=older', 'VAULT_ADDR=x'),
    bytes('PASS=new', 'VAULT_ADDR=theirs'),
  );
  assert.equal(lines.slice(1), ['B=2', 'PASS=new', 'VAULT_ADDR=theirs']);
  assert.equal(replaced, ['PASS']);
});

test('a secret stays in place', () => {
  const region = Buffer.alloc(64);
  encodeEntries(region, [
    { key: 'A', value: Buffer.from('x') },
    { key: 'EMPTY', value: Buffer.alloc(0) },
  ]);
  const { entries } = childEnvironment({ inherited: [], records: recordsIn(region), descriptor: undefined });
  assert.is(entries.length, 3);
  assert.ok(entries.slice(1).every(({ buffer }) => buffer === region.buffer));
  region.write('y', 2);
  assert.equal(
    entries.slice(1).map((entry) => Buffer.from(entry).toString()),
    ['A=y', 'EMPTY='],
  );
});

test('strings that are not text, or have no name, stay as they are', () => {
  const odd = [Buffer.from('L=\xff\xfe', 'latin1'), Buffer.from('nothing'), Buffer.from('=x')];
  assert.equal(environment(odd, []).lines.slice(1), ['L=\xff\xfe', 'nothing', '=x']);
});

test('the block that the process was started with, bytes that are no text included', () => {
  const source = new URL('../../../../src/plugins/wrapper/prepare-application.ts', import.meta.url).href;
  const program = `import { inheritedEnvironment } from ${JSON.stringify(source)};
    for (const entry of inheritedEnvironment()) console.log(Buffer.from(entry).toString('latin1'));`;
  const line = `env -i A=1 "$(printf 'B=\\377')" E= ${process.execPath} --input-type=module-typescript -e "$PROGRAM"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', line], {
    encoding: 'utf8',
    env: { PROGRAM: program, PATH: '/usr/bin:/bin' },
  });
  assert.equal(stdout.trim().split('\n'), ['A=1', 'B=ÿ', 'E='], stderr);
});

test('what is left of an overwritten token is no variable', () => {
  const folder = temporaryFolder('environ');
  const file = join(folder.path, 'environ');
  writeFileSync(file, 'A=1\0*****************\0B=\0');
  assert.equal(inheritedEnvironment(file).map(String), ['A=1', 'B=']);
  return folder.remove();
});

test('without /proc, as Node has it', () => {
  const texts = inheritedEnvironment('/nowhere/environ').map((entry) => Buffer.from(entry).toString());
  assert.ok(texts.includes(`PATH=${process.env['PATH']}`));
});

test('a block of records ends with a NUL, without one, or with an empty record', () => {
  const split = (text: string) => recordsIn(Buffer.from(text)).map((entry) => Buffer.from(entry).toString());
  assert.equal(split('A=1\0B=2\0'), ['A=1', 'B=2']);
  assert.equal(split('A=1\0B=2'), ['A=1', 'B=2']);
  assert.equal(split('A=1\0\0B=2'), ['A=1']);
  assert.equal(split(''), []);
});

test.run();
