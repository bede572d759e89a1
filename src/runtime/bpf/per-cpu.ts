import { bpfInt } from './libbpf.ts';
import { type MapFacts, mapType } from './map-facts.ts';

const perCpuTypes: readonly number[] = [
  mapType.perCpuHash,
  mapType.perCpuArray,
  mapType.lruPerCpuHash,
  mapType.perCpuCgroupStorage,
];

export function isPerCpu({ type }: Pick<MapFacts, 'type'>): boolean {
  return perCpuTypes.includes(type);
}

let knownCpus = 0;

/** How many values a map of values per CPU has for each key: one for each CPU that there may ever be. */
export function possibleCpus(): number {
  knownCpus ||= bpfInt('CPUs', 'libbpf_num_possible_cpus');
  return knownCpus;
}

/** Bytes from one CPU's value to the next. */
export const perCpuStride = (valueSize: number): number => Math.ceil(valueSize / 8) * 8;

/** One CPU's value after the other, as a look-up returned them. They share its memory. */
export function perCpuValues(bytes: Buffer, valueSize: number): Buffer[] {
  const stride = perCpuStride(valueSize);
  return Array.from({ length: bytes.length / stride }, (_, cpu) =>
    bytes.subarray(cpu * stride, cpu * stride + valueSize),
  );
}

/** The sum over all CPUs of the 64-bit counter that lies `offset` bytes into each value. */
export function sumPerCpu(bytes: Buffer, valueSize: number, offset = 0): bigint {
  return perCpuValues(bytes, valueSize).reduce((sum, value) => sum + value.readBigUInt64LE(offset), 0n);
}
