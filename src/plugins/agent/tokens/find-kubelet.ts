import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { partsOf } from '../../../runtime/native/proc-text.ts';
import { processIds } from '../../../runtime/native/processes.ts';
import { podUidOfProcess } from '../pods/pod-cgroup.ts';

/**
 * The process of root, outside all pods, that listens on the kubelet's port of this node: no other process can take the
 * port while it lives.
 * @returns its PID; undefined if there is none
 */
export function findKubelet(port: number): number | undefined {
  const sockets = new Set(['tcp', 'tcp6'].flatMap((name) => listeners(`/proc/1/net/${name}`, port)));
  if (sockets.size === 0) return undefined;
  return processIds().find((pid) => isRootOfNode(pid) && holds(pid, sockets));
}

const listening = '0A';

/**
 * Inodes of the sockets that listen on a port.
 * @param path of a table such as /proc/net/tcp; none if it cannot be read
 */
export function listeners(path: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes: string[] = [];
  try {
    for (const each of partsOf(path, { maxBytes: maxListenerBytes })) {
      const [number, local = '', , state, , , , , , inode] = each.trim().split(/\s+/);
      // those that listen come first, below the head; how many connections follow, strangers decide
      if (state !== listening && number !== 'sl') break;
      if (local.endsWith(suffix) && inode !== undefined) inodes.push(inode);
    }
  } catch {
    // without the table there is no kubelet to be found
  }
  return inodes;
}

/** A line has 150 bytes. */
const maxListenerBytes = 16_777_216;

function isRootOfNode(pid: number): boolean {
  const isRoot = /^Uid:\t0\t0\t/m.test(read(`/proc/${pid}/status`));
  const cgroups = read(`/proc/${pid}/cgroup`);
  return isRoot && cgroups !== '' && podUidOfProcess(cgroups) === undefined;
}

function holds(pid: number, sockets: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((name) => sockets.has(socketAt(`/proc/${pid}/fd/${name}`)));
  } catch {
    return false;
  }
}

function socketAt(path: string): string {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1] ?? '';
  } catch {
    return '';
  }
}

/** Empty for a process that is gone. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
