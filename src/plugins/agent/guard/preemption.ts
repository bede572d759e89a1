import { readFileSync } from 'node:fs';
import { version } from 'node:os';

export interface PreemptionSources {
  /** Of debugfs, such as `none voluntary (full)`; undefined where it is not mounted. */
  readonly scheduler: string | undefined;
  /** The kernel's command line. */
  readonly commandLine: string;
  /** As uname -v has it, such as `#1 SMP PREEMPT_DYNAMIC Debian 6.1`. */
  readonly version: string;
}

const preempting = ['full', 'lazy'];

/**
 * Whether the kernel may take a task off its processor inside of a BPF program, so that others on that processor pass
 * by the same program meanwhile. Where it cannot be told, it is taken to be so: that costs time, not protection.
 */
export function isPreemptible(sources: PreemptionSources = ownSources()): boolean {
  const chosen =
    /\((\w+)\)/.exec(sources.scheduler ?? '')?.[1] ?? /(?:^|\s)preempt=(\w+)/.exec(sources.commandLine)?.[1];
  if (chosen !== undefined) return preempting.includes(chosen);
  return /\bPREEMPT/.test(sources.version);
}

function ownSources(): PreemptionSources {
  return {
    scheduler: read('/sys/kernel/debug/sched/preempt'),
    commandLine: read('/proc/cmdline') ?? '',
    version: version(),
  };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
