import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { libbpfVersion } from '../../../../src/plugins/agent/bpf/libbpf.ts';
import { mapType, perCpuValues, possibleCpus, sumPerCpu } from '../../../../src/plugins/agent/bpf/map.ts';
import { type BpfObject, type ObjectOptions, openObject } from '../../../../src/plugins/agent/bpf/object.ts';
import { NativeError } from '../../../../src/runtime/native/libc.ts';
import { context, u32, u64 } from './arguments.ts';
import { compiledFixture } from './compile.ts';

const entries = 16;
const file = compiledFixture('counters', { MAX_ENTRIES: entries });
const opened: BpfObject[] = [];

function open(options: Partial<ObjectOptions> = {}): BpfObject {
  const object = openObject(file, { name: 'test', ...options });
  opened.push(object);
  return object;
}

function load(options: Partial<ObjectOptions> = {}): BpfObject {
  const object = open(options);
  object.load();
  return object;
}

function errno(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    if (error instanceof NativeError) return error.errnoName;
    throw error;
  }
  return 'none';
}

const objects = suite('BPF objects');

objects.after.each(() => {
  for (const object of opened.splice(0)) object.close();
});

objects('are loaded by libbpf 1', () => {
  assert.match(libbpfVersion(), /^v1\.\d+$/);
});

objects('tell their programs', () => {
  const programs = open().programs();
  assert.equal(
    programs.map(({ name, section }) => `${name} ${section}`),
    ['multiply raw_tp', 'last_letter raw_tp', 'count raw_tp', 'produce raw_tp', 'watch raw_tp/sys_enter'],
  );
});

objects('run a program with its arguments', () => {
  const program = load().program('multiply');
  assert.is(program.run(context(5, 6)), 5 + 6 + 7);
  assert.is(program.run(context(0xffff_ff00, 0)), 7 - 0x100 + 2 ** 32, 'unsigned');
});

objects('have the constants that they are given', () => {
  const object = load({ constants: { factor: 100n, offset: -1, word: Buffer.from('xyz\0') } });
  assert.is(object.program('multiply').run(context(5, 6)), 505);
  assert.is(object.program('last_letter').run(context(0)), 'z'.charCodeAt(0));
});

objects('refuse constants that they do not have or that do not fit', () => {
  assert.throws(() => open({ constants: { nothing: 1 } }), /has no constant nothing/);
  assert.throws(() => open({ constants: { offset: 2 ** 32 } }), /offset has 4 bytes/);
  assert.throws(() => open({ constants: { word: Buffer.from('long one') } }), /word has 4 bytes/);
});

objects('leave out programs', () => {
  const object = load({ leaveOut: ['produce', 'watch'] });
  assert.is(object.program('multiply').run(context(1, 1)), 9);
  assert.is(
    errno(() => object.program('produce').run(context(0, 0))),
    'ENOENT',
  );
});

objects('know nothing by a wrong name', () => {
  const object = load();
  assert.throws(() => object.program('nothing'), /has no program nothing/);
  assert.throws(() => object.map('nothing'), /has no map nothing/);
  assert.throws(() => open({ leaveOut: ['nothing'] }), /has no program nothing/);
});

objects('refuse to be used after they are closed', () => {
  const object = load();
  const program = object.program('multiply');
  object.close();
  object.close();
  assert.throws(() => program.run(context(1, 1)), /has been closed/);
  assert.throws(() => object.map('table'), /has been closed/);
});

objects('are refused where they are no object files', () => {
  for (const bytes of [Buffer.from('no ELF file at all'), Buffer.alloc(0), file.subarray(0, 1000)]) {
    assert.throws(() => openObject(bytes, { name: 'broken' }), /The BPF object broken cannot be read/);
  }
});

objects('tell what their maps are', () => {
  const object = load();
  const { id, ...facts } = object.map('table').facts;
  assert.ok(id > 0);
  assert.equal(facts, { type: mapType.hash, keySize: 4, valueSize: 8, maxEntries: entries, flags: 0 });
  assert.is(object.map('ring').facts.type, mapType.ringBuffer);
});

objects('look up, update and delete entries of maps', () => {
  const table = load().map('table');
  assert.is(table.lookup(u32(1)), undefined);
  table.update(u32(1), u64(11));
  table.update(u32(1), u64(12));
  assert.equal(table.lookup(u32(1)), u64(12));
  assert.is(table.delete(u32(1)), true);
  assert.is(table.delete(u32(1)), false);
  assert.is(table.lookup(u32(1)), undefined);
});

objects('say why an update is refused', () => {
  const table = load().map('table');
  for (let key = 0; key < entries; key += 1) table.update(u32(key), u64(key));
  assert.is(
    errno(() => table.update(u32(entries), u64(0))),
    'E2BIG',
  );
  assert.is(
    errno(() => table.update(u32(0), u64(0), 1n)),
    'EEXIST',
  );
  table.delete(u32(0));
  assert.is(
    errno(() => table.update(u32(0), u64(0), 2n)),
    'ENOENT',
  );
});

objects('refuse keys and values of another length before the kernel reads past their end', () => {
  const table = load().map('table');
  assert.throws(() => table.lookup(Buffer.alloc(3)), /A key of map table has 4 bytes, not 3/);
  assert.throws(() => table.update(u32(1), Buffer.alloc(7)), /A value of map table has 8 bytes, not 7/);
});

objects('tell all keys of a map', () => {
  const table = load().map('table');
  assert.equal([...table.keys()], []);
  for (let key = 0; key < entries; key += 1) table.update(u32(key), u64(key));
  const keys = [...table.keys()].map((key) => key.readUInt32LE());
  assert.equal(
    keys.sort((one, other) => one - other),
    Array.from({ length: entries }, (_, key) => key),
  );
});

objects('tell keys while they are deleted', () => {
  const table = load().map('table');
  for (let key = 0; key < entries; key += 1) table.update(u32(key), u64(key));
  for (const key of table.keys()) table.delete(key);
  assert.is([...table.keys()].length, 0);
});

objects('hold a value for each CPU', () => {
  const object = load();
  const totals = object.map('totals');
  for (let round = 1; round <= 10; round += 1) object.program('count').run(context(0, round));
  const bytes = totals.lookup(u32(0)) ?? Buffer.alloc(0);
  assert.is(sumPerCpu(bytes, totals.facts.valueSize), 55n);
  const values = perCpuValues(bytes, totals.facts.valueSize);
  assert.is(values.length, possibleCpus());
  assert.is(
    values.reduce((sum, value) => sum + value.readUInt32LE(8), 0),
    10,
  );
});

objects('run an attached program until its link is destroyed', () => {
  const object = load();
  const calls = () => perCpuSum(object);
  const before = calls();
  const link = object.program('watch').attach();
  const during = calls();
  link.destroy();
  link.destroy();
  const after = calls();
  assert.is(before, 0);
  assert.ok(during > before, 'the look-up itself is a system call');
  assert.is(calls(), after);
  assert.throws(() => link.pin('/sys/fs/bpf/svc-test'), /has been destroyed/);
});

function perCpuSum(object: BpfObject): number {
  const totals = object.map('totals');
  return perCpuValues(totals.lookup(u32(1)) ?? Buffer.alloc(0), totals.facts.valueSize).reduce(
    (sum, value) => sum + value.readUInt32LE(8),
    0,
  );
}

objects('say that a program cannot be attached', () => {
  const program = load({ leaveOut: ['watch'] }).program('watch');
  try {
    program.attach();
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), /BPF program watch cannot be attached to raw_tp\/sys_enter/);
    assert.is((error as { code: string }).code, 'BPF_ATTACH_FAILED');
  }
});

objects.run();
