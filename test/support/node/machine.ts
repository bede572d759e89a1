import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { requireTool } from '../../testbed/ensure.ts';
import { type Child, launch } from '../child.ts';
import { cleanEnv } from '../clean-env.ts';
import type { Stoppable } from '../types.ts';
import { WITH_BPF } from '../vm/types.ts';
import { waitFor } from '../wait-for.ts';
import { type GuestAgent, guestAgent } from './guest-agent.ts';

/** The host, as machines of QEMU's user-mode network see it. */
export const HOST_ADDRESS = '10.0.2.2';
export const NODE_ADDRESS = '10.0.2.15';
/** Of the CONNECT proxy on the node. */
const PROXY_PORT = 8_132;
/** Wider vectors cost an emulator more than they save. */
const PROCESSOR = 'qemu64,+rdrand,+ssse3,+sse4.1,+sse4.2,+popcnt,+cx16,+aes,+pclmulqdq';
const BOOT_MS = 900_000;

const KERNEL_ARGUMENTS = [
  ...['root=/dev/vda', 'rw', 'console=ttyS0,115200', 'net.ifnames=0', 'panic=-1'],
  ...[`lsm=${WITH_BPF.join(',')}`, 'secretmem.enable=1'],
  // on a busy host a disk may be found only after the minute and a half that is usual
  ...['systemd.default_device_timeout_sec=900', 'systemd.default_timeout_start_sec=900'],
  ...['mitigations=off', 'cryptomgr.notests', 'quiet', 'systemd.show_status=false'],
];

/** A machine that boots Debian from a disk, until it is stopped. */
export interface NodeMachine extends Stoppable {
  readonly pid: number;
  /** As root. */
  readonly run: GuestAgent['run'];
  /** What its kernel has said. */
  readonly console: string;
}

export interface NodeMachineOptions {
  /** For its console and sockets. */
  readonly folder: string;
  /** The disk that is mounted at /node. */
  readonly disk: string;
  /** Of this host's loopback, that leads to the node's CONNECT proxy. */
  readonly proxyPort: number;
}

/**
 * Boots it; ready when a command of root runs there. Writes to its disk go when it stops, and not before: it may reboot.
 * @throws ToolUnavailable where QEMU or Debian's packages cannot be had
 */
export async function startMachine({ folder, disk, proxyPort }: NodeMachineOptions): Promise<NodeMachine> {
  const [qemu, image] = await Promise.all([requireTool('qemu'), requireTool('node-image')]);
  const at = (name: string) => join(folder, name);
  const bin = (name: string) => image.bins[name] as string;
  const forward = `hostfwd=tcp:127.0.0.1:${proxyPort}-${NODE_ADDRESS}:${PROXY_PORT}`;
  const args = [
    ...['-accel', 'tcg,thread=multi', '-cpu', PROCESSOR, '-smp', '2', '-m', '4096M'],
    ...['-nodefaults', '-display', 'none'],
    ...['-kernel', bin('vmlinuz'), '-initrd', bin('initrd'), '-append', KERNEL_ARGUMENTS.join(' ')],
    ...['-serial', `file:${at('console')}`],
    ...['-drive', `file=${bin('disk')},if=virtio,format=raw,snapshot=on`],
    ...['-drive', `file=${disk},if=virtio,format=raw,readonly=on`],
    ...['-netdev', `user,id=net,${forward}`, '-device', 'virtio-net-pci,netdev=net'],
    ...['-device', 'virtio-serial', '-chardev', `socket,path=${at('agent')},server=on,wait=off,id=agent`],
    ...['-device', 'virtserialport,chardev=agent,name=org.qemu.guest_agent.0'],
  ];
  const env = cleanEnv({ TMPDIR: folder });
  const child = await launch(qemu.bins['qemu-system-x86_64'] as string, args, { env });
  await waitFor('the port of the guest agent', () => child.ended || existsSync(at('agent')));
  const agent = guestAgent(at('agent'));
  const stop = async () => {
    await agent.stop();
    await child.stop();
  };
  try {
    await booted(child, agent);
  } catch (error) {
    await stop();
    throw error;
  }
  return { pid: child.pid, run: agent.run, console: at('console'), stop };
}

async function booted(child: Child, agent: GuestAgent): Promise<void> {
  const ended = child.exited.then(() => {
    throw new Error(`QEMU ended:\n${child.logs()}`);
  });
  const waiting = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('the node has not booted in time')), BOOT_MS).unref();
  });
  await Promise.race([ended, waiting, agent.run('true', BOOT_MS)]);
}
