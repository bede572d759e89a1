import { readFileSync } from 'node:fs';
import { isPeerThere, type PeerCredentials } from '../../../runtime/native/sockets.ts';
import type { Guard, ProcessFacts } from '../guard/contract.ts';
import { isPodUid, podUidOfProcess } from '../pods/pod-cgroup.ts';
import { gone, RegistrationRefused } from './refusal.ts';
import { keyOf } from './registry.ts';

/** The process that made a connection. */
export interface CallerProcess {
  readonly pid: number;
  readonly uid: number;
  /** Nanoseconds since boot; differs for another process with the same PID. */
  readonly start: bigint;
  /** Id of the process's cgroup (v2). */
  readonly cgroup: bigint;
}

export function requireReady({ status }: Guard): void {
  if (status.tier !== undefined) return;
  throw new RegistrationRefused(
    'not_ready',
    'The agent has not yet found out how it can protect processes; try again in a second.',
  );
}

/**
 * Identifies the peer of a connection that was just accepted.
 * @param descriptor of the connection
 * @throws RegistrationRefused if the agent cannot identify it, or the process has already gone
 */
export function identify(descriptor: number, { pid, uid }: PeerCredentials, guard: Guard): CallerProcess {
  if (pid === 0) throw outside();
  requireReady(guard);
  const facts = guard.inspect(pid);
  // Checked after `inspect`: if the peer is still there, the PID has not been reused, so its process was inspected.
  if (facts === undefined || isPeerThere(descriptor) === false) throw gone();
  return { pid, uid, start: facts.start, cgroup: facts.cgroup };
}

/** @throws RegistrationRefused if the facts belong to another process that got the same PID */
export function requireSame(caller: CallerProcess, facts: ProcessFacts | undefined): ProcessFacts {
  if (facts === undefined || keyOf(facts) !== keyOf(caller)) throw gone();
  return facts;
}

function outside(): RegistrationRefused {
  return new RegistrationRefused(
    'outside_namespace',
    "The agent cannot see the process: run the agent in the host's PID namespace (hostPID: true).",
  );
}

/** Content of /proc/PID/cgroup. @throws Error if the process is gone */
export type ReadCgroups = (pid: number) => string;

export function readCgroups(pid: number): string {
  return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
}

/**
 * The pod of a process by its cgroups, which must be the pod that it names.
 * @param named empty if it names none
 * @throws RegistrationRefused
 */
export function podOf(pid: number, named: string, read: ReadCgroups): string | undefined {
  if (named !== '' && !isPodUid(named)) {
    throw new RegistrationRefused(
      'invalid_pod_uid',
      'pod_uid is not the UID of a pod; send metadata.uid of the pod, or nothing.',
    );
  }
  const found = podUidOfProcess(cgroupsOf(pid, read));
  if (named === '' || found === named) return found;
  throw new RegistrationRefused(
    'wrong_pod',
    `Process ${pid} is in ${found === undefined ? 'no pod' : 'another pod'} by its cgroup; send the UID of the pod that it runs in.`,
  );
}

function cgroupsOf(pid: number, read: ReadCgroups): string {
  try {
    return read(pid);
  } catch (error) {
    throw gone(error);
  }
}

const limit = 64;

/** A caller's version text, made safe for logs and lists: one line of at most 64 characters. */
export function versionText(text: string): string {
  return text.replace(/\p{C}+/gu, ' ').slice(0, limit);
}
