import { readdirSync, readFileSync, statSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BpfLoadError } from '../../../../src/plugins/agent/bpf/explain.ts';
import { ensureBpfFileSystem, isOnBpfFileSystem } from '../../../../src/plugins/agent/bpf/libbpf.ts';
import { openPinnedMap, perCpuValues } from '../../../../src/plugins/agent/bpf/map.ts';
import { type BpfObject, openObject } from '../../../../src/plugins/agent/bpf/object.ts';
import { openPinnedLink } from '../../../../src/plugins/agent/bpf/program.ts';
import { u32 } from './arguments.ts';
import { compileFixture } from './compile.ts';
import { type PrivateFileSystem, privateFileSystem } from './private-file-system.ts';
import { runFixture } from './run-fixture.ts';

const file = compileFixture('counters', { MAX_ENTRIES: 16 });
const other = compileFixture('counters', { MAX_ENTRIES: 32 });

let fileSystem: PrivateFileSystem;
const opened: { close(): void }[] = [];

/** Another process's turn with the pins. @returns the keys that it found, its own included */
function anotherProcess(link: string, key: number): number[] {
  const result = runFixture('pin', [file, join(fileSystem.path, 'svc'), link, String(key)]);
  assert.is(result.stderr, '');
  return JSON.parse(result.stdout);
}

function load(path = file): BpfObject {
  const object = openObject(readFileSync(path), { name: 'test', pinFolder: join(fileSystem.path, 'svc') });
  opened.push(object);
  object.load();
  return object;
}

/** How often the attached programs have run. */
function runs(): number {
  const totals = openPinnedMap(join(fileSystem.path, 'svc', 'totals'));
  const bytes = totals.lookup(u32(1)) ?? Buffer.alloc(0);
  totals.close();
  return perCpuValues(bytes, totals.facts.valueSize).reduce((sum, value) => sum + value.readUInt32LE(8), 0);
}

function loadFailure(path: string): BpfLoadError {
  try {
    load(path);
  } catch (error) {
    if (error instanceof BpfLoadError) return error;
    throw error;
  }
  throw new Error('it was loaded');
}

const pinning = suite('pinned maps and links');

pinning.before.each(() => {
  fileSystem = privateFileSystem();
});

pinning.after.each(() => {
  for (const each of opened.splice(0)) each.close();
  fileSystem.remove();
});

pinning('survive the processes that pinned them, and are taken over by the next', () => {
  assert.equal(anotherProcess('first', 1), [1]);
  assert.equal(anotherProcess('second', 2), [1, 2]);
  assert.is([...load().map('table').keys()].length, 2);
  assert.equal(readdirSync(join(fileSystem.path, 'svc')).sort(), [
    'first',
    'ring',
    'second',
    'table',
    'totals',
  ]);
});

pinning('are for their owner only', () => {
  anotherProcess('first', 1);
  assert.is(statSync(join(fileSystem.path, 'svc')).mode & 0o777, 0o700);
});

pinning('keep a program attached until the path is unlinked and every handle is destroyed', () => {
  anotherProcess('first', 1);
  const path = join(fileSystem.path, 'svc', 'first');
  const before = runs();
  assert.ok(runs() > before, 'without any process that holds it');
  const link = openPinnedLink(path);
  unlinkSync(path);
  const held = runs();
  assert.ok(runs() > held, 'by the handle');
  link.destroy();
  const last = runs();
  assert.is(runs(), last);
});

pinning('leave a pinned link attached when its handle is destroyed', () => {
  const link = load().program('watch').attach();
  link.pin(join(fileSystem.path, 'links', 'watch'));
  link.destroy();
  const before = runs();
  assert.ok(runs() > before);
});

pinning('refuse a second pin at the same path', () => {
  anotherProcess('first', 1);
  const link = load().program('watch').attach();
  assert.throws(() => link.pin(join(fileSystem.path, 'svc', 'first')), /EEXIST/);
  link.destroy();
});

pinning('are left alone by an object whose map is laid out otherwise', () => {
  anotherProcess('first', 1);
  const error = loadFailure(other);
  assert.is(error.reason, 'map-mismatch');
  assert.is(error.subject, 'map table');
  assert.is(error.code, 'BPF_LOAD_FAILED');
  assert.equal(error.details, ['max entries: 32 declared, 16 pinned']);
  assert.match(error.nextStep, /--unload/);
  assert.equal([...load().map('table').keys()].length, 1);
});

pinning('are not left behind by an object that fails to load later', () => {
  const maps = openObject(readFileSync(compileFixture('half')), {
    name: 'half',
    pinFolder: join(fileSystem.path, 'half'),
  });
  opened.push(maps);
  assert.throws(() => maps.load(), /verifier/);
  assert.equal(readdirSync(join(fileSystem.path, 'half')), []);
});

pinning('need a BPF file system', () => {
  const folder = join(tmpdir(), 'svc-test-no-bpffs');
  const elsewhere = () => openObject(readFileSync(file), { name: 'test', pinFolder: folder });
  assert.throws(elsewhere, (error: { code: string }) => error.code === 'BPF_FILE_SYSTEM_UNAVAILABLE');
  assert.not.ok(isOnBpfFileSystem(folder));
});

pinning('say that there is none', () => {
  assert.throws(() => openPinnedMap(join(fileSystem.path, 'nothing')), /ENOENT/);
  assert.throws(() => openPinnedLink(join(fileSystem.path, 'nothing')), /ENOENT/);
});

pinning('without a folder are never made, whatever the object declares', () => {
  const object = openObject(readFileSync(file), { name: 'test' });
  opened.push(object);
  object.load();
  assert.is(object.map('table').lookup(u32(1)), undefined);
  assert.equal(readdirSync(fileSystem.path), ['maps.debug', 'progs.debug']);
});

pinning('mount a BPF file system once', () => {
  assert.ok(isOnBpfFileSystem(fileSystem.path));
  assert.is(ensureBpfFileSystem(fileSystem.path), false);
});

pinning('say why no BPF file system can be mounted', () => {
  const impossible = () => ensureBpfFileSystem('/proc/svc');
  assert.throws(
    impossible,
    (error: { code: string; nextStep: string }) =>
      error.code === 'BPF_FILE_SYSTEM_UNAVAILABLE' && error.nextStep.includes('mount -t bpf'),
  );
});

pinning.run();
