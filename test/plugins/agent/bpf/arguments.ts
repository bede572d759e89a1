/** The context of a raw tracepoint program: its arguments. */
export function context(...args: readonly (number | bigint)[]): Buffer {
  const bytes = Buffer.alloc(args.length * 8);
  for (const [index, arg] of args.entries()) bytes.writeBigUInt64LE(BigInt(arg), index * 8);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function u64(value: number | bigint): Buffer {
  return context(value);
}
