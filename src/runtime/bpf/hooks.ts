import { stringAt, withString } from '../native/c-memory.ts';
import { bpfAddress, loadLibbpf } from './libbpf.ts';
import type { LoadFinding } from './load-error.ts';

/** Programs that are attached to a function of the kernel, as <linux/bpf.h> numbers their types. */
const hooked: readonly number[] = [26, 29];

/** The first program whose function the kernel does not have. */
export function missingHook(programs: readonly bigint[]): LoadFinding | undefined {
  const program = programs.find((each) => !hasHook(each));
  if (program === undefined) return undefined;
  return { reason: 'no-hook', subject: sectionOf(program), lines: [] };
}

function hasHook(program: bigint): boolean {
  const libbpf = loadLibbpf();
  if (!hooked.includes(libbpf.int('bpf_program__type', program))) return true;
  const type = libbpf.int('bpf_program__expected_attach_type', program);
  const hook = sectionOf(program).split('/')[1] ?? '';
  return withString(hook, (text) => libbpf.int('libbpf_find_vmlinux_btf_id', text, type)) > 0;
}

const sectionOf = (program: bigint): string => stringAt(bpfAddress('bpf_program__section_name', program));
