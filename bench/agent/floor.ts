import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { clang, root } from '../../test/bpf/clang.ts';
import type { KernelTier } from './plan.ts';

const hooks: Readonly<Record<KernelTier, string | undefined>> = {
  1: '-DHOOK(name)="lsm/" name',
  2: '-DHOOK(name)="fmod_ret/security_" name',
  3: undefined,
};
/** Debian keeps asm/ there. */
const multiarch = ['x86_64', 'aarch64'].map((name) => `/usr/include/${name}-linux-gnu`).filter(existsSync);

/**
 * Compiles the programs that do nothing.
 * @returns path of the object
 * @throws ToolUnavailable without clang
 */
export async function buildFloor(tier: KernelTier, folder: string): Promise<string> {
  const path = join(folder, `floor-${tier}.bpf.o`);
  const includes = [join(root, 'bpf'), ...multiarch].map((each) => `-I${each}`);
  const hook = hooks[tier];
  await clang([
    ...['-target', 'bpf', '-mcpu=v3', '-O2', '-g', ...includes, '-D__TARGET_ARCH_x86'],
    ...(hook === undefined ? [] : [hook]),
    ...['-c', join(import.meta.dirname, 'floor.bpf.c'), '-o', path],
  ]);
  return path;
}
