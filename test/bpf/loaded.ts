import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { bootVm } from '../support/vm/boot.ts';
import { GUEST_NODE, guestProgram } from '../support/vm/guest-program.ts';
import { PACKAGE } from '../support/vm/package-files.ts';
import { MACHINES, type MachineName } from '../support/vm/types.ts';

/** What `fixtures/load-objects.ts` says of one object. */
export type Loaded = Readonly<Record<string, unknown>>;

export const loader = fileURLToPath(new URL('fixtures/load-objects.ts', import.meta.url));

/** Of a million that the verifier is willing to look at, so that later kernels, which look longer, load them too. */
const mostInstructions = 100_000;
const maps = [
  ...['cgroups', 'crowds', 'hits', 'opened', 'processes', 'reported', 'settings', 'tallies'],
  ...['token_keepers', 'token_openers', 'tokens'],
];
const common = ['manage', 'track_exec', 'track_fork', 'track_free', 'track_move'];
const hooks = [
  'call_not_denied',
  'file_open',
  'file_permission',
  'inode_follow_link',
  'locked_down',
  'perf_event_alloc',
  'ptrace_access_check',
  'ptrace_traceme',
  'task_setrlimit',
];
const programs: Readonly<Record<string, readonly string[]>> = {
  lsm: [...common, ...hooks],
  fmod_ret: [...common, ...hooks],
  tracepoint: [...common, 'call_entered', 'call_ended', 'memory_locking'],
};

/** All programs of an object passed the verifier, and its maps are pinned. */
export function checkObject(loaded: Loaded | undefined, object: string): void {
  assert.is(loaded?.['object'], object);
  assert.equal(loaded?.['pinned'], maps);
  const instructions = Object.entries(loaded?.['programs'] as Record<string, number>);
  assert.equal(instructions.map(([name]) => name).sort(), [...(programs[object] ?? [])].sort());
  for (const [name, count] of instructions) {
    assert.ok(count > 0 && count < mostInstructions, `${object}/${name}: ${count} instructions verified`);
  }
}

/** Has the verifier of a machine's kernel look at the objects of all tiers. */
export async function checkMachine(machine: MachineName, timeoutMs?: number): Promise<void> {
  const path = `${PACKAGE}/test/load.mjs`;
  const { architecture } = MACHINES[machine];
  const names = Object.keys(programs);
  const objects = names.map((name) => `${PACKAGE}/dist/bpf/${architecture}/${name}.bpf.o`);
  const { status, records, stderr } = await bootVm({
    machine,
    processors: 1,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    files: { [path]: await guestProgram(loader) },
    script: `exec ${GUEST_NODE} ${path} /sys/fs/bpf ${objects.join(' ')}`,
  });
  assert.is(status, 0, stderr);
  assert.is(records.length, names.length);
  for (const [index, name] of names.entries()) checkObject(records[index], name);
}
