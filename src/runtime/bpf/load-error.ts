import { exitStatus, SvcError } from '../../core/errors.ts';
import type { NativeError } from '../native/native-error.ts';

/**
 * Why the kernel did not take an object: the process may not, the verifier refused a program, a pinned map is laid
 * out otherwise, the kernel has no hook of that name, it has no type information (BTF), or it did not say.
 */
export type LoadFailure = 'not-permitted' | 'rejected' | 'map-mismatch' | 'no-hook' | 'no-btf' | 'unknown';

export interface LoadFinding {
  reason: LoadFailure;
  /** The program or map concerned, as far as it is known. */
  subject?: string;
  /** A few lines of what the kernel said, or of what differs. */
  lines: readonly string[];
}

/** An object that could not be brought into the kernel: BPF_LOAD_FAILED, exit 71. */
export class BpfLoadError extends SvcError {
  readonly reason: LoadFailure;
  readonly subject: string | undefined;
  /** Such as `EPERM`. */
  readonly errnoName: string;

  constructor(object: string, finding: LoadFinding, cause: NativeError) {
    const { reason, subject, lines } = finding;
    const which = subject === undefined ? `object ${object}` : `object ${object} (${subject})`;
    super('BPF_LOAD_FAILED', `The kernel does not take BPF ${which}: ${said[reason]} (${cause.errnoName})`, {
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
