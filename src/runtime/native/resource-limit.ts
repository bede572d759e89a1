import { tryInt } from './libc.ts';
import { type Scratch, withScratch } from './scratch.ts';

/** Bytes; Infinity where there is no limit. */
export interface ResourceLimit {
  soft: number;
  hard: number;
}

const unlimited = 0xffff_ffff_ffff_ffffn;
const structSize = 16;

/** @param resource its number, RLIMIT_… @throws NativeError */
export function readLimit(resource: number): ResourceLimit {
  return withScratch(structSize, (struct) => load(struct, resource));
}

/**
 * Leaves the hard limit as it is and takes it for the soft one where that would pass it.
 * @returns the limits now in force
 * @throws NativeError
 */
export function writeSoftLimit(resource: number, bytes: number): ResourceLimit {
  return withScratch(structSize, (struct) => {
    load(struct, resource);
    const hard = struct.bytes.readBigUInt64LE(8);
    const wanted = Number.isFinite(bytes) ? BigInt(bytes) : unlimited;
    struct.bytes.writeBigUInt64LE(wanted < hard ? wanted : hard, 0);
    tryInt('setrlimit', resource, struct.address);
    return load(struct, resource);
  });
}

function load(struct: Scratch, resource: number): ResourceLimit {
  tryInt('getrlimit', resource, struct.address);
  return { soft: toBytes(struct.bytes.readBigUInt64LE(0)), hard: toBytes(struct.bytes.readBigUInt64LE(8)) };
}

function toBytes(value: bigint): number {
  return value === unlimited ? Number.POSITIVE_INFINITY : Number(value);
}
