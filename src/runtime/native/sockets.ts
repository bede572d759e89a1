import { closeSync, readFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { SvcError } from '../errors.ts';
import { callInt, NativeError, tryInt } from './libc.ts';
import { withScratch } from './memory.ts';

/** The process that opened a connection to a Unix socket, as recorded by the kernel at that moment. */
export interface PeerCredentials {
  /** PID in this process's PID namespace; 0 for a process outside it. */
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

const socketLevel = 1;
const peerCredentialsOption = 17;
const peerPidDescriptorOption = 77;
const lengthSize = 8;

/** The descriptor of an open socket or server. */
export function descriptorOf(socket: Socket | Server): number | undefined {
  const { _handle: handle } = socket as unknown as { _handle?: { fd?: number } | null };
  return handle?.fd !== undefined && handle.fd >= 0 ? handle.fd : undefined;
}

/** @throws NativeError unless it is a Unix socket */
export function peerCredentials(descriptor: number): PeerCredentials {
  return option(descriptor, peerCredentialsOption, 12, (bytes) => ({
    pid: bytes.readInt32LE(0),
    uid: bytes.readUInt32LE(4),
    gid: bytes.readUInt32LE(8),
  }));
}

/**
 * Whether the process that opened the connection still has its PID, because it is alive or not reaped. Undefined if the
 * kernel does not tell (before Linux 6.5).
 */
export function isPeerThere(descriptor: number): boolean | undefined {
  try {
    const peer = option(descriptor, peerPidDescriptorOption, 4, (bytes) => bytes.readInt32LE());
    return hasPid(peer);
  } catch (error) {
    if (!(error instanceof NativeError)) throw error;
    return error.errnoName === 'ENOPROTOOPT' ? undefined : false;
  }
}

/** Closes the descriptor it is given. */
function hasPid(pidDescriptor: number): boolean {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${pidDescriptor}`, 'latin1');
    return Number(/^Pid:\s*(-?\d+)/m.exec(info)?.[1]) >= 0;
  } finally {
    closeSync(pidDescriptor);
  }
}

function option<T>(descriptor: number, name: number, length: number, read: (bytes: Buffer) => T): T {
  return withScratch(length + lengthSize, ({ address, bytes }) => {
    bytes.writeUInt32LE(length, length);
    tryInt('getsockopt', descriptor, socketLevel, name, address, address + BigInt(length));
    return read(bytes);
  });
}

const pollOut = 4;
const pollHangUp = 16;
const structLength = 8;
const eventsAt = 4;
const resultAt = 6;

/**
 * Whether a write of at most a page returns immediately, even if with an error. Another writer may fill the pipe in
 * between. True if native calls are not available.
 */
export function canWrite(descriptor: number): boolean {
  try {
    return withScratch(structLength, ({ address, bytes }) => {
      bytes.writeInt32LE(descriptor);
      bytes.writeInt16LE(pollOut, eventsAt);
      return callInt('poll', address, 1n, 0) === 1 && bytes.readInt16LE(resultAt) !== 0;
    });
  } catch (error) {
    if (error instanceof SvcError) return true;
    throw error;
  }
}

/** Whether the peer has closed the connection completely, although data from it may still be readable. */
export function hasHungUp(descriptor: number): boolean {
  return withScratch(structLength, ({ address, bytes }) => {
    bytes.writeInt32LE(descriptor);
    bytes.writeInt16LE(0, eventsAt);
    return callInt('poll', address, 1n, 0) === 1 && (bytes.readInt16LE(resultAt) & pollHangUp) !== 0;
  });
}
