import type { Check } from '../../contract.ts';
import { bpfLsm } from './bpf-lsm.ts';
import { btf } from './btf.ts';
import { cgroups } from './cgroups.ts';
import { corePattern } from './core-pattern.ts';
import { kernel } from './kernel.ts';
import { memoryLock } from './memory-lock.ts';
import { secretMemory } from './secret-memory.ts';
import { swap } from './swap.ts';
import { yama } from './yama.ts';

export const hostChecks: readonly Check[] = [
  ...[kernel, secretMemory, memoryLock, bpfLsm, btf],
  ...[swap, corePattern, cgroups, yama],
];
