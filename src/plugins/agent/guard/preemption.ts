import { createReadStream, readFileSync } from 'node:fs';
import { release, version } from 'node:os';
import { gunzipSync } from 'node:zlib';
import type { ProgramSet } from './program-set.ts';

export interface PreemptionSources {
  /** From uname -v, such as `#1 SMP PREEMPT_DYNAMIC Debian 6.1`. */
  readonly version: string;
  /** The kernel's own variable, read from its memory; undefined if the variable's address is unknown. */
  readonly mode: string | undefined;
  /** From debugfs, such as `none voluntary (full)`; undefined if it is not mounted. */
  readonly scheduler: string | undefined;
  /** The kernel's command line. */
  readonly commandLine: string;
  /** The kernel's build configuration, such as `CONFIG_PREEMPT_VOLUNTARY=y`; undefined if unavailable. */
  readonly config: string | undefined;
}

export interface Preemption {
  /** Whether a task may be preempted inside a program, so that other tasks on the same processor bypass the program. */
  readonly possible: boolean;
  /** How that is known, for the log. */
  readonly because: string;
}

/** In the order of the kernel's enum `preempt_dynamic_*`. */
const modes = ['none', 'voluntary', 'full', 'lazy'];
const preempting = ['full', 'lazy'];

/**
 * Whether the kernel preempts. Without CONFIG_PREEMPT_DYNAMIC the command line has no effect. If unknown, the kernel
 * counts as preempting: that costs time, not protection.
 */
export function judgePreemption(sources: PreemptionSources): Preemption {
  const { version: built, mode, scheduler = '', commandLine, config = '' } = sources;
  if (!/\bPREEMPT/.test(built)) return { possible: false, because: 'the kernel is built without PREEMPT' };
  if (/\bPREEMPT_RT\b/.test(built)) return { possible: true, because: 'PREEMPT_RT' };
  if (mode !== undefined) return byMode(mode, 'preempt_dynamic_mode');
  const chosen = /\((\w+)\)/.exec(scheduler)?.[1];
  if (chosen !== undefined) return byMode(chosen, 'debugfs');
  if (!/\bPREEMPT_DYNAMIC\b/.test(built))
    return { possible: true, because: 'the kernel is built with PREEMPT' };
  const asked = [...commandLine.matchAll(/(?:^|\s)preempt=(\w+)/g)].map(([, name = '']) => name);
  const last = asked.findLast((name) => modes.includes(name));
  if (last !== undefined) return byMode(last, 'the command line');
  const preset = /^CONFIG_PREEMPT(?:_(NONE|VOLUNTARY|LAZY))?=y$/m.exec(config);
  if (preset !== null) return byMode(preset[1]?.toLowerCase() ?? 'full', 'the configuration of the kernel');
  return { possible: true, because: 'PREEMPT_DYNAMIC, mode unknown' };
}

const byMode = (mode: string, source: string): Preemption => ({
  possible: !modes.includes(mode) || preempting.includes(mode),
  because: `preempt=${mode} (${source})`,
});

/**
 * Whether calls can bypass the hooks on this kernel in its current preemption mode.
 * Since Linux 6.2 a task enters a BPF LSM program even while another task is inside it (271de525e1d7).
 */
export function preemptionOf(set: Pick<ProgramSet, 'tier' | 'ask'>): Preemption {
  if (set.tier === 3) return { possible: false, because: 'tracepoints cannot be bypassed' };
  if (set.tier === 1 && isSince62()) return { possible: false, because: 'BPF LSM since Linux 6.2' };
  const { error, preemption } = set.ask('preemption', 0);
  return judgePreemption({ ...hostSources(), mode: error === 0 ? modes[preemption] : undefined });
}

function isSince62(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major > 6 || (major === 6 && minor >= 2);
}

const hostSources = () => ({
  version: version(),
  scheduler: read('/sys/kernel/debug/sched/preempt'),
  commandLine: read('/proc/cmdline') ?? '',
  config: config(),
});

let knownConfig: { readonly text: string | undefined } | undefined;

/** Cached: the configuration does not change while the machine runs. */
function config(): string | undefined {
  knownConfig ??= { text: readConfig() ?? read(`/boot/config-${release()}`) };
  return knownConfig.text;
}

function readConfig(): string | undefined {
  try {
    return gunzipSync(readFileSync('/proc/config.gz')).toString('latin1');
  } catch {
    return undefined;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

let knownAddress: Promise<bigint> | undefined;

/**
 * Address of the kernel's preemption mode, which may change while it runs. 0 if the kernel has no such variable, hides
 * addresses (kptr_restrict=2), or lists functions only (no CONFIG_KALLSYMS_ALL). Read once, because the file is long.
 */
export function preemptionAddress(): Promise<bigint> {
  knownAddress ??= /\bPREEMPT/.test(version()) ? symbolAddress('preempt_dynamic_mode') : Promise.resolve(0n);
  return knownAddress;
}

async function symbolAddress(symbol: string): Promise<bigint> {
  const line = new RegExp(`^([0-9a-f]+) \\w ${symbol}$`, 'm');
  let rest = '';
  try {
    for await (const chunk of createReadStream('/proc/kallsyms', {
      encoding: 'latin1',
      highWaterMark: 1 << 18,
    })) {
      rest += chunk;
      const address = rest.includes(symbol) ? line.exec(rest)?.[1] : undefined;
      if (address !== undefined) return BigInt(`0x${address}`);
      rest = rest.slice(rest.lastIndexOf('\n') + 1);
    }
  } catch {
    // not readable: the address counts as unknown
  }
  return 0n;
}
