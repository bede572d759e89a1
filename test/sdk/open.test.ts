import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError } from '../../src/runtime/errors.ts';
import { memoryAt, tryInt, tryLong } from '../../src/runtime/native/libc.ts';
import { writeGeneration } from '../../src/runtime/protocols/secret-records/region-writer.ts';
import { open } from '../../src/sdk/index.ts';
import { duplicate, entriesOf, regionWith, secretRegion } from '../support/secret-region.ts';
import { temporaryFolder } from '../support/temporary.ts';

const test = suite('sdk open');
const file = new URL('../vectors/secret-store.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8')) as {
  nil_descriptors: (string | null)[];
  invalid_descriptors: string[];
};

function refusal(value: string): SvcError {
  try {
    open({ environment: { SVC_SECRET_FD: value } });
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error(`${value} was opened`);
}

function checkRefusal(value: string, code: string): void {
  const error = refusal(value);
  assert.is(error.code, code, value);
  assert.match(error.message, 'SVC_SECRET_FD=');
  assert.match(error.message, 'svc-wrapper');
}

const isOpen = (descriptor: number) => {
  try {
    fstatSync(descriptor);
    return true;
  } catch {
    return false;
  }
};

test('no descriptor is a nil store', () => {
  for (const value of vectors.nil_descriptors) {
    assert.is(open({ environment: { SVC_SECRET_FD: value ?? undefined } }).state, 'nil');
  }
});

test('any other system is a nil store, whatever the variable says', () => {
  for (const platform of ['darwin', 'win32', 'freebsd']) {
    const store = open({ platform, environment: { SVC_SECRET_FD: 'abc', A: 'environment' } });
    assert.is(store.state, 'nil');
    assert.is(store.get('A'), 'environment');
  }
});

test('what is not a descriptor number, or not open, is refused with the variable and the next step', () => {
  for (const value of vectors.invalid_descriptors) {
    checkRefusal(value, value === '2147483647' ? 'SECRET_FD_UNUSABLE' : 'SECRET_FD_INVALID');
  }
});

test('a pipe, a file and a file that goes by the name of secret memory are refused and stay open', () => {
  const folder = temporaryFolder('sdk');
  const impostor = openSync(`${folder.path}/secretmem`, 'w+');
  const pipe = Buffer.alloc(8);
  const address = tryLong('malloc', 8n);
  tryInt('pipe', address);
  memoryAt(address, 8).copy(pipe);
  for (const descriptor of [impostor, pipe.readInt32LE(0), pipe.readInt32LE(4)]) {
    checkRefusal(`${descriptor}`, 'SECRET_FD_UNUSABLE');
    assert.ok(isOpen(descriptor));
    closeSync(descriptor);
  }
  tryLong('free', address);
  return folder.remove();
});

test('secret memory without a size is refused', () => {
  const descriptor = Number(tryLong('syscall', 447n, 0n));
  checkRefusal(`${descriptor}`, 'SECRET_FD_UNUSABLE');
  closeSync(descriptor);
});

test('the descriptor is closed after mapping, the mapping stays, a second open is refused', () => {
  const region = regionWith([['A', 'one']]);
  const descriptor = duplicate(region.descriptor);
  const store = open({ environment: { SVC_SECRET_FD: `${descriptor}` } });
  assert.not(isOpen(descriptor));
  assert.is(store.get('A'), 'one');
  checkRefusal(`${descriptor}`, 'SECRET_FD_UNUSABLE');
  assert.is(store.get('A'), 'one');
  store.close();
  region.release();
});

test('the mapping is of secret memory, shared and read-only, and goes with close', () => {
  const secretMappings = () =>
    readFileSync('/proc/self/maps', 'utf8').match(/^\S+ \S+ .*secretmem.*$/gm) ?? [];
  const region = regionWith([['A', 'one']]);
  const store = open({ environment: { SVC_SECRET_FD: `${duplicate(region.descriptor)}` } });
  assert.is(secretMappings().filter((line) => / r--s /.test(line)).length, 1);
  store.close();
  assert.is(secretMappings().filter((line) => / r--s /.test(line)).length, 0);
  region.release();
});

test('a view shows the bytes in place: the old ones after one rotation, none after close', () => {
  const region = regionWith([['A', 'one']]);
  const store = open({ environment: { SVC_SECRET_FD: `${duplicate(region.descriptor)}`, B: 'environment' } });
  const view = store.view('A') as Uint8Array;
  assert.is(Buffer.from(view).toString(), 'one');
  assert.is(store.view('B'), undefined);
  writeGeneration(
    region.bytes,
    entriesOf([
      ['A', 'two'],
      ['C', 'new'],
    ]),
  );
  assert.is(Buffer.from(view).toString(), 'one');
  assert.is(store.get('A'), 'two');
  assert.equal(store.keys(), ['A', 'C']);
  store.close();
  assert.is(view.length, 0);
  assert.is(store.view('A'), undefined);
  region.release();
});

test('every rotation is seen at the next read', () => {
  const region = secretRegion();
  const store = open({ environment: { SVC_SECRET_FD: `${duplicate(region.descriptor)}` } });
  assert.equal(store.keys(), []);
  for (let number = 1; number <= 20; number++) {
    writeGeneration(region.bytes, entriesOf([[`K${number}`, `${number}`]]));
    assert.is(store.has(`K${number - 1}`), false);
    assert.is(store.get(`K${number}`), `${number}`);
  }
  store.close();
  region.release();
});

test.run();
