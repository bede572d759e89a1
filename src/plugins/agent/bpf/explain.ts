import { existsSync } from 'node:fs';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { NativeError } from '../../../runtime/native/libc.ts';
import { stringAt, withString } from '../../../runtime/native/memory.ts';
import { bpfAddress, loadLibbpf } from './libbpf.ts';
import { type MapFacts, openPinnedMap } from './map.ts';

export interface FailedLoad {
  name: string;
  object: bigint;
  /** Addresses of the programs to load. */
  programs: readonly bigint[];
  /** The kernel's messages about programs, by index. */
  said: readonly { index: number; lines: readonly string[] }[];
  cause: NativeError;
}

const kernelTypes = '/sys/kernel/btf/vmlinux';
const refusals: readonly string[] = ['EPERM', 'EACCES'];

/** Determines why an object could not be loaded, since libbpf reports only an errno. */
export function explainLoadFailure(failed: FailedLoad): BpfLoadError {
  const finding: LoadFinding = rejected(failed) ??
    mismatchedMap(failed.object) ??
    notPermitted(failed.cause) ??
    noTypes() ??
    missingHook(failed.programs) ?? { reason: 'unknown', lines: [] };
  return new BpfLoadError(failed.name, finding, failed.cause);
}

/** Programs are loaded in order, and the first failure ends loading. */
function rejected({ programs, said }: FailedLoad): LoadFinding | undefined {
  const last = said.at(-1);
  const program = last && programs[last.index];
  if (last === undefined || program === undefined) return undefined;
  return {
    reason: 'rejected',
    subject: stringAt(bpfAddress('bpf_program__name', program)),
    lines: last.lines,
  };
}

function notPermitted({ errnoName }: NativeError): LoadFinding | undefined {
  return refusals.includes(errnoName) ? { reason: 'not-permitted', lines: [] } : undefined;
}

function noTypes(): LoadFinding | undefined {
  return existsSync(kernelTypes) ? undefined : { reason: 'no-btf', lines: [] };
}

/** Program types that attach to a kernel function, as numbered in <linux/bpf.h>. */
const hooked: readonly number[] = [26, 29];

/** The first program whose kernel function does not exist. */
function missingHook(programs: readonly bigint[]): LoadFinding | undefined {
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

type Layout = Omit<MapFacts, 'id'>;

/** The first map whose pinned counterpart has a different layout. */
function mismatchedMap(object: bigint): LoadFinding | undefined {
  for (const map of mapHandles(object)) {
    const lines = differences(map);
    if (lines.length > 0) return { reason: 'map-mismatch', subject: `map ${mapName(map)}`, lines };
  }
  return undefined;
}

function differences(map: bigint): string[] {
  const path = pinPath(map);
  const pinned = path === undefined ? undefined : pinnedFacts(path);
  return pinned === undefined ? [] : layoutDifferences(declaredFacts(map), pinned);
}

function pinnedFacts(path: string): MapFacts | undefined {
  try {
    const map = openPinnedMap(path);
    map.close();
    return map.facts;
  } catch (error) {
    if (error instanceof NativeError) return undefined;
    throw error;
  }
}

/** One line for each difference. */
export function layoutDifferences(declared: Layout, pinned: Layout): string[] {
  return (Object.keys(names) as (keyof Layout)[])
    .filter((fact) => declared[fact] !== pinned[fact])
    .map((fact) => `${names[fact]}: ${declared[fact]} declared, ${pinned[fact]} pinned`);
}

const names: Record<keyof Layout, string> = {
  type: 'type',
  keySize: 'key size',
  valueSize: 'value size',
  maxEntries: 'max entries',
  flags: 'flags',
};

/**
 * Why the kernel rejected an object: missing permission, the verifier, a pinned map of another layout, a missing hook,
 * missing type information (BTF), or unknown.
 */
export type LoadFailure = 'not-permitted' | 'rejected' | 'map-mismatch' | 'no-hook' | 'no-btf' | 'unknown';

interface LoadFinding {
  reason: LoadFailure;
  /** The program or map concerned, if known. */
  subject?: string;
  /** A few lines of the kernel's message, or of differences. */
  lines: readonly string[];
}

/** An object that could not be loaded into the kernel: BPF_LOAD_FAILED, exit 71. */
export class BpfLoadError extends SvcError {
  readonly reason: LoadFailure;
  readonly subject: string | undefined;
  /** Such as `EPERM`. */
  readonly errnoName: string;

  constructor(object: string, finding: LoadFinding, cause: NativeError) {
    const { reason, subject, lines } = finding;
    const which = subject === undefined ? `object ${object}` : `object ${object} (${subject})`;
    super('BPF_LOAD_FAILED', `The kernel rejects BPF ${which}: ${said[reason]} (${cause.errnoName})`, {
      nextStep: nextSteps[reason],
      exitStatus: exitStatus.system,
      details: lines,
      cause,
    });
    this.reason = reason;
    this.subject = subject;
    this.errnoName = cause.errnoName;
  }
}

const said: Record<LoadFailure, string> = {
  'not-permitted': 'not permitted',
  rejected: 'its verifier refuses the program',
  'map-mismatch': 'a pinned map of another layout is in the way',
  'no-hook': 'it has no such hook',
  'no-btf': 'it has no type information at /sys/kernel/btf/vmlinux',
  unknown: 'it does not say why',
};

const nextSteps: Record<LoadFailure, string> = {
  'not-permitted':
    'Run privileged or with CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN, on a kernel that is not locked down.',
  rejected: 'Report the lines of the verifier together with the kernel version.',
  'map-mismatch': 'Remove the pinned maps of the other release: svc run agent --unload.',
  'no-hook': 'Use a kernel that has the hook, or a lower tier.',
  'no-btf': 'Use a kernel built with CONFIG_DEBUG_INFO_BTF=y, or a lower tier.',
  unknown: 'Check the kernel version and what its log (dmesg) says.',
};

/** The addresses of all maps of an object. */
export function* mapHandles(object: bigint): Generator<bigint> {
  let handle = bpfAddress('bpf_object__next_map', object, 0n);
  while (handle !== 0n) {
    yield handle;
    handle = bpfAddress('bpf_object__next_map', object, handle);
  }
}

function mapName(map: bigint): string {
  return stringAt(bpfAddress('bpf_map__name', map));
}

/** The path where a map will be pinned. */
export function pinPath(map: bigint): string | undefined {
  const path = bpfAddress('bpf_map__pin_path', map);
  return path === 0n ? undefined : stringAt(path);
}

/** Properties of a map as declared in the object file. */
function declaredFacts(map: bigint): Omit<MapFacts, 'id'> {
  const fact = (name: string) => loadLibbpf().int(`bpf_map__${name}`, map) >>> 0;
  return {
    type: fact('type'),
    keySize: fact('key_size'),
    valueSize: fact('value_size'),
    maxEntries: fact('max_entries'),
    flags: fact('map_flags'),
  };
}
