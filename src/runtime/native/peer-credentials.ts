import { closeSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tryInt } from './libc.ts';
import { NativeError } from './native-error.ts';
import { withScratch } from './scratch.ts';

/** Who made a connection to a Unix socket, as the kernel kept it when it was made. */
export interface PeerCredentials {
  /** As this process's PID namespace numbers it; 0 for a process outside of it. */
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

const socketLevel = 1;
const peerCredentialsOption = 17;
const peerPidDescriptorOption = 77;
const lengthSize = 8;

/** The descriptor of an open socket. */
export function descriptorOf(socket: Socket): number | undefined {
  const { _handle: handle } = socket as unknown as { _handle?: { fd?: number } | null };
  return handle?.fd !== undefined && handle.fd >= 0 ? handle.fd : undefined;
}

/** @throws NativeError for what is no Unix socket */
export function peerCredentials(descriptor: number): PeerCredentials {
  return option(descriptor, peerCredentialsOption, 12, (bytes) => ({
    pid: bytes.readInt32LE(0),
    uid: bytes.readUInt32LE(4),
    gid: bytes.readUInt32LE(8),
  }));
}

/**
 * Whether the process that made the connection still has its PID, alive or not reaped.
 * Undefined where the kernel does not tell (before Linux 6.5).
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

/** Closes the descriptor. */
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
