import { existsSync } from 'node:fs';
import { stringAt } from '../native/c-memory.ts';
import type { NativeError } from '../native/native-error.ts';
import { missingHook } from './hooks.ts';
import { bpfAddress } from './libbpf.ts';
import { BpfLoadError, type LoadFinding } from './load-error.ts';
import { mismatchedMap } from './map-mismatch.ts';

export interface FailedLoad {
  name: string;
  object: bigint;
  /** Addresses of the programs that were to be loaded. */
  programs: readonly bigint[];
  /** What the kernel said of programs, by their index. */
  said: readonly { index: number; lines: readonly string[] }[];
  cause: NativeError;
}

const kernelTypes = '/sys/kernel/btf/vmlinux';
const refusals: readonly string[] = ['EPERM', 'EACCES'];

/** Finds out why an object could not be loaded, of which libbpf tells no more than an errno. */
export function explainLoadFailure(failed: FailedLoad): BpfLoadError {
  const finding: LoadFinding = rejected(failed) ??
    mismatchedMap(failed.object) ??
    notPermitted(failed.cause) ??
    noTypes() ??
    missingHook(failed.programs) ?? { reason: 'unknown', lines: [] };
  return new BpfLoadError(failed.name, finding, failed.cause);
}

/** Programs are loaded one after the other, and the first that fails ends it. */
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
