import { closeSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ListenAddress } from '../settings/listen-address.ts';
import { callInt, NativeError, tryInt } from './libc.ts';
import { withScratch, withString } from './memory.ts';

export interface Listener {
  /** Close-on-exec; the caller closes it. */
  readonly descriptor: number;
  /** With the actual port. */
  readonly address: ListenAddress;
}

const families = { 4: 2, 6: 10 } as const;
/** Sizes of `struct sockaddr_in` and `struct sockaddr_in6`. */
const lengths = { 4: 16, 6: 28 } as const;
const addressAt = { 4: 4, 6: 8 } as const;
const portAt = 2;
/** Offset of an int after the larger struct. */
const numberAt = 28;
const streamCloseOnExecNonBlocking = 1 | 0o2000000 | 0o4000;
const socketLevel = 1;
const reuseAddress = 2;
/** Default of Node. */
const backlog = 511;
const protocolIpv6 = 41;
const ipv6Only = 26;

/**
 * Listens without Node's server, which first loads modules for name lookups and clusters for 7 ms. Without a host,
 * listens on every address of both families if the machine has both.
 * @returns undefined for a host name, or an address with a zone
 * @throws NativeError, such as EADDRINUSE
 */
export function openListener({ host, port }: ListenAddress): Listener | undefined {
  if (host === undefined) return listenAnywhere(port);
  const family = isIP(host);
  if ((family !== 4 && family !== 6) || host.includes('%')) return undefined;
  return listenOn(family, host, port);
}

/** Like Node, falls back to IPv4 if anything prevents IPv6. */
function listenAnywhere(port: number): Listener {
  try {
    return listenOn(6, '::', port);
  } catch (error) {
    if (!(error instanceof NativeError)) throw error;
    return listenOn(4, '0.0.0.0', port);
  }
}

function listenOn(family: 4 | 6, host: string, port: number): Listener {
  const descriptor = tryInt('socket', families[family], streamCloseOnExecNonBlocking, 0);
  try {
    return withScratch(numberAt + 4, ({ address, bytes }) => {
      const at = (offset: number) => address + BigInt(offset);
      bytes.writeInt32LE(1, numberAt);
      tryInt('setsockopt', descriptor, socketLevel, reuseAddress, at(numberAt), 4);
      bytes.writeInt32LE(0, numberAt);
      if (family === 6) tryInt('setsockopt', descriptor, protocolIpv6, ipv6Only, at(numberAt), 4);
      bytes.writeUInt16LE(families[family], 0);
      bytes.writeUInt16BE(port, portAt);
      withString(host, (text) => {
        if (callInt('inet_pton', families[family], text, at(addressAt[family])) !== 1)
          throw new TypeError(`${host} is no address`);
      });
      tryInt('bind', descriptor, address, lengths[family]);
      tryInt('listen', descriptor, backlog);
      bytes.writeInt32LE(numberAt, numberAt);
      tryInt('getsockname', descriptor, address, at(numberAt));
      return { descriptor, address: { host, port: bytes.readUInt16BE(portAt) } };
    });
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}
