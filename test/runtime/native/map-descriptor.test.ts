import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isSecretMemory, mapDescriptor, type Region } from '../../../src/runtime/native/memory.ts';
import { createSecretMemory } from '../../../src/runtime/native/secret-memory.ts';
import { runFixture } from './run-fixture.ts';

let region: Region;
let descriptor = -1;

const descriptors = suite('map a descriptor');

descriptors.before(() => {
  region = createSecretMemory({ requireMemfdSecret: true, requireLock: true }).allocate(5000);
  region.bytes.write('to be kept');
  descriptor = region.descriptor ?? -1;
});

descriptors.after(() => region.release());

descriptors('shows the same memory, whole pages of it, until it is unmapped', () => {
  const mapping = mapDescriptor(descriptor);
  assert.is(mapping.length, 8192);
  const { bytes } = mapping;
  assert.is(bytes.toString('utf8', 0, 10), 'to be kept');
  region.bytes.write('TO');
  assert.is(bytes.toString('utf8', 0, 10), 'TO be kept');
  region.bytes.write('to');
  mapping.unmap();
  mapping.unmap();
  assert.is(bytes.length, 0);
  assert.throws(() => mapping.bytes, /released/);
});

descriptors('reaches a child by inheritance only, also one of another user', () => {
  const read = { length: 8192, text: 'to be kept' };
  const inherited = { args: ['3'], descriptors: [descriptor] };
  assert.equal(runFixture('read-descriptor', inherited).json, read);
  assert.equal(runFixture('read-descriptor', { ...inherited, ordinary: true, memlock: 8192 }).json, read);
  const alone = runFixture('read-descriptor', { args: [`${descriptor}`] });
  assert.is(alone.json.code, 'NOT_SECRET_MEMORY');
  assert.is(alone.status, 71);
});

descriptors('fails in a child whose memory-lock limit is smaller', () => {
  const options = { args: ['3'], descriptors: [descriptor], ordinary: true, memlock: 4096 };
  assert.match(runFixture('read-descriptor', options).json.message, /mmap.*EAGAIN/);
});

descriptors('is refused for a file, also one of that name, and for what is no descriptor', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-secretmem-'));
  const path = join(folder, 'secretmem (deleted)');
  writeFileSync(path, 'KEY=value\0');
  const file = openSync(path, 'r');
  for (const wrong of [file, 9999, -1, 1.5, Number.NaN]) {
    assert.is(isSecretMemory(wrong), false);
    assert.throws(() => mapDescriptor(wrong), /is not secret memory/);
  }
  closeSync(file);
  rmSync(folder, { recursive: true });
});

descriptors.run();
