import { SvcError } from '../../src/runtime/errors.ts';
import { tryInt } from '../../src/runtime/native/libc.ts';
import type { Region } from '../../src/runtime/native/memory.ts';
import { createSecretMemory } from '../../src/runtime/native/secret-memory.ts';
import {
  type SecretEntry,
  writeFirstGeneration,
} from '../../src/runtime/protocols/secret-records/region-writer.ts';
import { ToolUnavailable } from './tool-unavailable.ts';

/** A memfd_secret region with its descriptor, as the wrapper has it. */
export type DescriptorRegion = Region & { readonly descriptor: number };

/** @throws ToolUnavailable where the kernel has none to give */
export function secretRegion(length = 4096): DescriptorRegion {
  try {
    const memory = createSecretMemory({ requireMemfdSecret: true, requireLock: true });
    return memory.allocate(length) as DescriptorRegion;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw new ToolUnavailable('memfd_secret', error.message, { cause: error });
  }
}

/** The same with a first generation of these values. */
export function regionWith(values: readonly (readonly [key: string, value: string])[]): DescriptorRegion {
  const region = secretRegion();
  writeFirstGeneration(region.bytes, entriesOf(values));
  return region;
}

export function entriesOf(values: readonly (readonly [key: string, value: string])[]): SecretEntry[] {
  return values.map(([key, value]) => ({ key, value: Buffer.from(value) }));
}

/** Another descriptor of the same, not close-on-exec, for whoever closes what it gets. */
export function duplicate(descriptor: number): number {
  return tryInt('dup', descriptor);
}
