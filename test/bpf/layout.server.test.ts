import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { watchingNever } from '../../src/plugins/agent/guard/map-readings.ts';
import {
  accessOutcomes,
  accessPaths,
  decodeAccessEvent,
  decodeCrowd,
  decodeManageReply,
  decodeProcess,
  decodeProtectionFlags,
  decodeSettings,
  encodeProcess,
  encodeProtection,
  encodeSettings,
  layoutVersion,
  mostOfOneCgroup,
  protectionFlags,
  requests,
  sizes,
  tallies,
} from '../../src/runtime/protocols/protection/bpf-layouts.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type Btf, readBtf, type Struct } from './btf.ts';
import { clang, root } from './clang.ts';

const test = suite('layouts of the BPF programs and the agent');

async function btfOfHeader(): Promise<Btf> {
  const folder = temporaryFolder('bpf-layouts');
  const object = join(folder.path, 'layouts.o');
  const source = 'test/bpf/fixtures/layouts.bpf.c';
  const includes = ['x86_64', 'aarch64'].map((name) => `-I/usr/include/${name}-linux-gnu`);
  await clang(['-target', 'bpf', '-g', '-O2', ...includes, '-Ibpf', '-c', source, '-o', object]);
  const btf = await readBtf(object);
  await folder.remove();
  return btf;
}

const header = await btfOfHeader();
const objects = ['x64', 'arm64'].flatMap((architecture) =>
  readdirSync(join(root, 'dist/bpf', architecture)).map((name) => `dist/bpf/${architecture}/${name}`),
);

function struct(name: string): Struct {
  const found = header.structs.get(`svc_${name}`);
  if (found === undefined) throw new Error(`svc.h has no struct svc_${name}`);
  return found;
}

/** A value of its own for each field: no two bytes of a struct are alike, none is 0. */
function filled(name: string): Buffer {
  const bytes = Buffer.alloc(struct(name).size);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = 0x11 + at;
  return bytes;
}

function fieldOf(name: string, path: string): { offset: number; size: number } {
  const found = struct(name).fields.find((field) => field.path === path);
  if (found === undefined) throw new Error(`struct svc_${name} has no ${path}`);
  return found;
}

function read(name: string, path: string, bytes: Buffer): number | bigint {
  const { offset, size } = fieldOf(name, path);
  return size === 8 ? bytes.readBigUInt64LE(offset) : bytes.readUIntLE(offset, size);
}

function write(name: string, path: string, bytes: Buffer, value: number): void {
  const { offset, size } = fieldOf(name, path);
  bytes.writeUIntLE(value, offset, size);
}

const enumOf = (name: string) => header.enums.get(`svc_${name}`) ?? {};

/** The names of an enum without their prefix, in order of their values. */
function namesOf(name: string, prefix: string): string[] {
  const values = Object.entries(enumOf(name)).sort(([, one], [, other]) => one - other);
  return values.map(([full]) => full.replace(`SVC_${prefix}_`, '').toLowerCase());
}

function define(name: string): string | undefined {
  const text = readFileSync(join(root, 'bpf/svc.h'), 'utf8');
  return new RegExp(`^#define ${name} (.*)$`, 'm').exec(text)?.[1];
}

test('structs have the sizes that the agent takes them to have, without gaps', () => {
  for (const [name, size] of Object.entries(sizes)) {
    assert.is(struct(name).size, size, name);
    const used = struct(name).fields.reduce((sum, field) => sum + field.size, 0);
    assert.is(used, size, `${name} has gaps`);
  }
});

test('a process is read and written at its fields', () => {
  const bytes = filled('process');
  const value = decodeProcess(bytes);
  assert.is(value.pid, read('process', 'tgid', bytes));
  assert.is(value.start, read('process', 'start', bytes));
  const written = encodeProcess(value);
  assert.is(read('process', 'tgid', written), value.pid);
  assert.is(read('process', 'start', written), value.start);
  assert.is(read('process', 'reserved', written), 0, 'a key is compared with all its bytes');
});

test('a protection is read and written at its fields', () => {
  const bytes = filled('protection');
  assert.is(decodeProtectionFlags(bytes), read('protection', 'flags', bytes));
  const written = encodeProtection(7);
  assert.is(written.length, struct('protection').size);
  assert.is(read('protection', 'flags', written), 7);
  assert.is(read('protection', 'since', written), 0n);
});

test('a crowd is read at its fields', () => {
  const bytes = filled('crowd');
  const { cgroup, processes, beyond } = decodeCrowd(bytes);
  assert.is(cgroup, read('crowd', 'cgroup', bytes));
  assert.is(processes, read('crowd', 'processes', bytes));
  assert.is(beyond, read('crowd', 'beyond', bytes));
  assert.is(mostOfOneCgroup, Number(define('SVC_MOST_OF_ONE')));
});

test('settings are read and written at their fields', () => {
  const bytes = filled('settings');
  const field = (path: string) => read('settings', path, bytes);
  const value = decodeSettings(bytes);
  assert.is(value.generation, field('generation'));
  assert.is(value.left, field('left'));
  assert.is(value.agent.pid, field('agent.tgid'));
  assert.is(value.agent.start, field('agent.start'));
  assert.is(value.watchingSince, field('watching_since'));
  const written = encodeSettings(value);
  for (const path of ['generation', 'left', 'agent.tgid', 'agent.start', 'watching_since']) {
    assert.is(read('settings', path, written), field(path), path);
  }
  for (const name of ['enforce', 'kill'] as const) {
    const only = encodeSettings({ ...value, enforce: false, kill: false, [name]: true });
    assert.is(read('settings', 'enforce', only), name === 'enforce' ? 1 : 0);
    assert.is(read('settings', 'kill', only), name === 'kill' ? 1 : 0);
    assert.is(decodeSettings(only)[name], true);
    write('settings', name, only, 0);
    assert.is(decodeSettings(only)[name], false);
  }
});

test('an answer is read at its fields', () => {
  const bytes = filled('answer');
  const value = decodeManageReply(bytes);
  assert.is(value.process.pid, read('answer', 'process.tgid', bytes));
  assert.is(value.process.start, read('answer', 'process.start', bytes));
  assert.is(value.cgroup, read('answer', 'cgroup', bytes));
  assert.is(value.error, read('answer', 'error', bytes));
  assert.is(value.preemption, read('answer', 'preemption', bytes));
  bytes.writeInt32LE(-7, fieldOf('answer', 'error').offset);
  assert.is(decodeManageReply(bytes).error, -7);
});

test('the facts of an answer are those of the programs', () => {
  const { SVC_FACT_COVERED = 0, SVC_FACT_OPENED = 0, ...others } = enumOf('answer_fact');
  assert.equal(others, {});
  for (const [facts, covered, opened] of [
    [0, false, false],
    [SVC_FACT_COVERED, true, false],
    [SVC_FACT_OPENED, false, true],
    [SVC_FACT_COVERED | SVC_FACT_OPENED, true, true],
  ] as const) {
    const bytes = filled('answer');
    write('answer', 'facts', bytes, facts);
    const answer = decodeManageReply(bytes);
    assert.equal([answer.covered, answer.opened], [covered, opened]);
  }
});

function hitBytes(path: number, outcome: number): Buffer {
  const bytes = filled('hit');
  write('hit', 'path', bytes, path);
  write('hit', 'outcome', bytes, outcome);
  return bytes;
}

test('a hit is read at its fields', () => {
  const bytes = hitBytes(1, 1);
  const field = (path: string) => read('hit', path, bytes);
  const { time, syscall, source, target } = decodeAccessEvent(bytes);
  assert.is(time, field('time'));
  assert.is(syscall, field('syscall'));
  assert.is(source.pid, field('source_tgid'));
  assert.is(source.tid, field('source_tid'));
  assert.is(source.uid, field('source_uid'));
  assert.is(source.cgroup, field('source_cgroup'));
  assert.is(target.pid, field('target_tgid'));
  assert.is(target.start, field('target_start'));
  assert.is(target.cgroup, field('target_cgroup'));
});

test("a hit's names are read where they are, to their end", () => {
  const bytes = hitBytes(1, 1);
  for (const [side, name] of [
    ['source', 'reader'],
    ['target', 'a-name-of-15-ch'],
  ] as const) {
    const { offset, size } = fieldOf('hit', `${side}_comm`);
    assert.is(size, Number(define('SVC_COMM')));
    bytes.fill(0, offset, offset + size).write(name, offset);
    assert.is(decodeAccessEvent(bytes)[side].comm, name);
    bytes.fill('x', offset, offset + size);
    assert.is(decodeAccessEvent(bytes)[side].comm, 'x'.repeat(size));
  }
});

test('access paths and outcomes are those of the programs', () => {
  assert.equal([...accessPaths, 'svc_access_paths'], namesOf('access_path', 'PATH'));
  assert.equal([...accessOutcomes, 'svc_outcomes'], namesOf('outcome', 'OUTCOME'));
  for (const [number, path] of accessPaths.entries())
    assert.is(decodeAccessEvent(hitBytes(number, 0)).road, path);
  for (const [number, outcome] of accessOutcomes.entries())
    assert.is(decodeAccessEvent(hitBytes(1, number)).outcome, outcome);
});

test('tallies, requests and flags are those of the programs', () => {
  assert.equal([...tallies, 'svc_tallies'], namesOf('tally', 'TALLY'));
  const upper = (prefix: string, values: Readonly<Record<string, number>>) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        `SVC_${prefix}_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`,
        value,
      ]),
    );
  assert.equal(upper('REQUEST', requests), enumOf('request'));
  assert.equal(upper('PROTECTION', protectionFlags), enumOf('protection_flag'));
});

test('the version of the layout and the time that never comes are those of the programs', () => {
  assert.is(String(layoutVersion), define('SVC_LAYOUT'));
  assert.is(define('SVC_NEVER'), '(~0ULL)');
  assert.is(watchingNever, 2n ** 64n - 1n);
});

test('the objects of all tiers and architectures are built from these layouts', async () => {
  assert.is(objects.length, 6);
  for (const object of objects) {
    const { structs, enums } = await readBtf(object);
    for (const name of ['svc_process', 'svc_protection', 'svc_settings', 'svc_answer']) {
      assert.equal(structs.get(name), header.structs.get(name), `${object}: ${name}`);
    }
    for (const name of ['svc_access_path', 'svc_outcome']) {
      assert.equal(enums.get(name), header.enums.get(name), `${object}: ${name}`);
    }
  }
});

test('objects have no maps but pinned ones and the answer, and no variables but two constants', async () => {
  for (const object of objects) {
    const { sections } = await readBtf(object);
    assert.equal([...sections.keys()].sort(), ['.maps', '.rodata', 'license'], object);
    const unpinned = sections.get('.maps')?.filter(({ members }) => !members.includes('pinning'));
    assert.equal(
      unpinned?.map(({ name }) => name),
      ['answer'],
      object,
    );
    assert.equal(
      sections.get('.rodata')?.map(({ name }) => name),
      ['generation', 'preemption_address'],
      object,
    );
  }
});

test.run();
