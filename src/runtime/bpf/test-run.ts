import { withBytes, withMemory } from '../native/c-memory.ts';
import { bpfInt } from './libbpf.ts';

/** Of `struct bpf_test_run_opts`. */
const length = 80;
const contextAt = 32;
const contextLengthAt = 48;
const returnedAt = 56;
/** Of a raw tracepoint program: it has at most twelve arguments of 64 bits. */
const longestContext = 96;

/**
 * Runs a loaded program once, in this thread, as BPF_PROG_TEST_RUN does.
 * @param context what the program is given; for a raw tracepoint, its arguments as 64-bit integers
 * @returns what the program returned, unsigned
 * @throws NativeError
 */
export function testRun(name: string, descriptor: number, context: Uint8Array): number {
  if (context.length > longestContext) throw new RangeError(`A context has ${longestContext} bytes at most`);
  return withMemory(length, ({ address, bytes }) =>
    withBytes(context, (from) => {
      bytes.writeBigUInt64LE(BigInt(length));
      if (context.length > 0) bytes.writeBigUInt64LE(from, contextAt);
      bytes.writeUInt32LE(context.length, contextLengthAt);
      bpfInt(name, 'bpf_prog_test_run_opts', descriptor, address);
      return bytes.readUInt32LE(returnedAt);
    }),
  );
}
