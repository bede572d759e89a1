import { callInt, NativeError, tryInt } from './libc.ts';
import { type Scratch, withScratch } from './memory.ts';

/** A record of init/protocol.h: a kind, a small number, and up to seven 64-bit values. */
export interface ChannelRecord {
  readonly kind: number;
  readonly number?: number;
  readonly values?: readonly number[];
}

export interface ReceivedRecord extends Required<ChannelRecord> {
  /** Close-on-exec; the receiver closes it. */
  readonly descriptor: number | undefined;
}

const recordLength = 64;
const valueCount = 7;
const unixFamily = 1;
const seqPacket = 5;
const closeOnExec = 0o2000000;
const noWait = 0x40;
const noSignal = 0x4000;
const closeReceivedOnExec = 0x40000000;
const socketLevel = 1;
const rights = 1;

/** `struct msghdr` and `struct cmsghdr` with one descriptor, in the layout of 64-bit Linux. */
const headerLength = 56;
const vectorLength = 16;
const controlLength = 24;
const controlUsed = 20;

/** Both ends of a socket pair that preserves record boundaries. @throws NativeError */
export function recordSocketPair(): readonly [number, number] {
  return withScratch(8, ({ address, bytes }) => {
    tryInt('socketpair', unixFamily, seqPacket | closeOnExec, 0, address);
    return [bytes.readInt32LE(0), bytes.readInt32LE(4)];
  });
}

/** Sends a record, together with a copy of a descriptor. @throws NativeError, such as EPIPE or EAGAIN */
export function sendRecord(
  socket: number,
  { kind, number = 0, values = [] }: ChannelRecord,
  descriptor?: number,
): void {
  withMessage((memory, record, control) => {
    record.writeUInt32LE(kind, 0);
    record.writeUInt32LE(number, 4);
    for (const [at, value] of values.entries())
      record.writeBigUInt64LE(BigInt(Math.round(value)), 8 + at * 8);
    if (descriptor === undefined) memory.bytes.fill(0, 32, 48);
    else {
      control.writeBigUInt64LE(BigInt(controlUsed), 0);
      control.writeInt32LE(socketLevel, 8);
      control.writeInt32LE(rights, 12);
      control.writeInt32LE(descriptor, 16);
    }
    tryInt('sendmsg', socket, memory.address, noSignal | noWait);
  });
}

/** The next record; undefined if none has arrived yet. @throws NativeError, and EPIPE at the end of the connection */
export function receiveRecord(socket: number): ReceivedRecord | undefined {
  return withMessage((memory, record, control) => {
    const length = receive(socket, memory);
    if (length === undefined) return undefined;
    if (length !== recordLength) throw new NativeError('recvmsg', brokenPipe);
    const hasDescriptor =
      memory.bytes.readBigUInt64LE(40) >= BigInt(controlUsed) && control.readInt32LE(12) === rights;
    return {
      kind: record.readUInt32LE(0),
      number: record.readUInt32LE(4),
      values: Array.from({ length: valueCount }, (_, at) => Number(record.readBigUInt64LE(8 + at * 8))),
      descriptor: hasDescriptor ? control.readInt32LE(16) : undefined,
    };
  });
}

const brokenPipe = 32;

function receive(socket: number, { address }: Scratch): number | undefined {
  try {
    return tryInt('recvmsg', socket, address, noWait | closeReceivedOnExec);
  } catch (error) {
    if (error instanceof NativeError && error.errnoName === 'EAGAIN') return undefined;
    throw error;
  }
}

/** Whether something can be received within `timeoutMs`. Blocks this thread. */
export function waitReadable(socket: number, timeoutMs: number): boolean {
  return withScratch(8, ({ address, bytes }) => {
    bytes.writeInt32LE(socket, 0);
    bytes.writeInt16LE(1, 4);
    return callInt('poll', address, 1n, timeoutMs) === 1;
  });
}

function withMessage<T>(use: (header: Scratch, record: Buffer, control: Buffer) => T): T {
  const recordAt = headerLength + vectorLength;
  const controlAt = recordAt + recordLength;
  return withScratch(controlAt + controlLength, (memory) => {
    const { address, bytes } = memory;
    bytes.writeBigUInt64LE(address + BigInt(headerLength), 16);
    bytes.writeBigUInt64LE(1n, 24);
    bytes.writeBigUInt64LE(address + BigInt(controlAt), 32);
    bytes.writeBigUInt64LE(BigInt(controlLength), 40);
    bytes.writeBigUInt64LE(address + BigInt(recordAt), headerLength);
    bytes.writeBigUInt64LE(BigInt(recordLength), headerLength + 8);
    const part = (at: number, length: number) => bytes.subarray(at, at + length);
    return use(memory, part(recordAt, recordLength), part(controlAt, controlLength));
  });
}
