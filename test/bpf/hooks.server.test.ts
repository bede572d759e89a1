import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from './clang.ts';
import { readKernelFunctions } from './kernel-functions.ts';

const test = suite('what BPF programs are attached to');

const kernel = await readKernelFunctions();

/** Hooks with the types of their parameters, as bpf/hooks.h declares them, without the verdict before. */
function declaredHooks(): Map<string, string[]> {
  const text = readFileSync(join(root, 'bpf/hooks.h'), 'utf8');
  const declared = [...text.matchAll(/SEC\(HOOK\("(\w+)"\)\)\nint BPF_PROG\(\w+, ([^)]*), int verdict\)/g)];
  return new Map(declared.map(([, name = '', list = '']) => [name, list.split(', ').map(typeOf)]));
}

const typeOf = (parameter: string) => parameter.replace(/\w+$/, '').trim();

/** What programs take from tracepoints, by position. */
const arguments_ = {
  task_newtask: { 0: 'struct task_struct *' },
  cgroup_attach_task: { 2: 'struct task_struct *' },
  sched_process_exec: { 0: 'struct task_struct *' },
  sched_process_free: { 0: 'struct task_struct *' },
  sys_enter: { 0: 'struct pt_regs *' },
  sys_exit: { 0: 'struct pt_regs *' },
  mmap_lock_start_locking: { 0: 'struct mm_struct *' },
};

test('all hooks are declared in the form that is looked for', () => {
  const sections = readFileSync(join(root, 'bpf/hooks.h'), 'utf8').match(/SEC\(HOOK/g) ?? [];
  assert.is(declaredHooks().size, sections.length);
  assert.ok(sections.length > 6);
});

for (const [name, types] of declaredHooks()) {
  test(`${name} has the parameters in this kernel that its program takes`, () => {
    assert.equal(kernel.parametersOf(`security_${name}`), types);
    assert.equal(kernel.parametersOf(`bpf_lsm_${name}`), types);
  });
}

for (const [name, positions] of Object.entries(arguments_)) {
  test(`the tracepoint ${name} tells in this kernel what its program takes`, () => {
    const types = kernel.parametersAt(name);
    for (const [position, type] of Object.entries(positions)) assert.is(types?.[Number(position)], type);
  });
}

test.run();
