import { readFileSync } from 'node:fs';
import { isPodUid, podUidOfProcess } from '../../../core/kubernetes/pod-cgroup.ts';
import { gone, Refusal } from './refusal.ts';

/** Content of /proc/PID/cgroup. @throws Error where the process is gone */
export type ReadCgroups = (pid: number) => string;

export function readCgroups(pid: number): string {
  return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
}

/**
 * The pod that a process is in by its cgroups, which has to be the one that it names.
 * @param named empty where it names none
 * @throws Refusal
 */
export function podOf(pid: number, named: string, read: ReadCgroups): string | undefined {
  if (named !== '' && !isPodUid(named)) {
    throw new Refusal(
      'invalid_pod_uid',
      "pod_uid is no pod's UID; send metadata.uid of the pod, or nothing.",
    );
  }
  const found = podUidOfProcess(cgroupsOf(pid, read));
  if (named === '' || found === named) return found;
  throw new Refusal(
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
