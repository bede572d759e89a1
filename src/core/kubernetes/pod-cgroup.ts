/** A UUID, or the hash of its manifest by which the kubelet names a static pod. */
const uidWith = (dash: string) => `(?:[0-9a-f]{8}(?:${dash}[0-9a-f]{4}){3}${dash}[0-9a-f]{12}|[0-9a-f]{32})`;
const wholeUid = new RegExp(`^${uidWith('-')}$`);

/** Of the cgroupfs driver: `pod<uid>`. */
const podFolder = new RegExp(`^pod(${uidWith('-')})$`);
/**
 * Of the systemd driver, which writes `_` for `-`: `kubepods-burstable-pod<uid>.slice`, below the cgroup root that the
 * kubelet may have been given. With `:runtime:id` behind it where the runtime takes the slice for a folder's name.
 */
const podSlice = new RegExp(
  `^(?:[\\w.]+-)*kubepods(?:-burstable|-besteffort)?-pod(${uidWith('_')})\\.slice(?::[\\w.-]+:[\\w.-]+)?$`,
);
const serviceClasses: readonly (string | undefined)[] = ['burstable', 'besteffort'];

/** Whether a text has the form of a pod's UID: a lower-case UUID, or the 32 hex digits of a static pod. */
export function isPodUid(text: string): boolean {
  return wholeUid.test(text);
}

/**
 * UID of the pod that a cgroup belongs to.
 * @param cgroupPath as /proc/PID/cgroup gives it, leading `/..` of a cgroup namespace included
 */
export function podUidOf(cgroupPath: string): string | undefined {
  const all = cgroupPath.split('/').filter((name) => name !== '');
  const above = all.findIndex((name) => name !== '..');
  const names = all.slice(above);
  // The outermost pod counts: names below a container are chosen inside it.
  const at = names.findIndex((_, index) => uidAt(names, index, above > 0) !== undefined);
  // Names below a user's slice are chosen by the user.
  return at < 0 || names.slice(0, at).includes('user.slice') ? undefined : uidAt(names, at, above > 0);
}

/**
 * UID of the pod that a process belongs to; undefined where it is in no pod, or in cgroups of several.
 * @param cgroupFile content of /proc/PID/cgroup: cgroup v1, v2 or both
 */
export function podUidOfProcess(cgroupFile: string): string | undefined {
  const found = cgroupFile.split('\n').map((line) => podUidOf(pathOf(line)));
  const named = new Set(found.filter((each) => each !== undefined));
  return named.size === 1 ? [...named][0] : undefined;
}

/** Whether a process is in a cgroup of this pod and in none of another. */
export function belongsToPod(cgroupFile: string, uid: string): boolean {
  return podUidOfProcess(cgroupFile) === uid;
}

/** Of `hierarchy:controllers:path`; paths may hold colons. */
function pathOf(line: string): string {
  return line.split(':').slice(2).join(':');
}

function uidAt(names: readonly string[], index: number, relative: boolean): string | undefined {
  const name = names[index] ?? '';
  const slice = podSlice.exec(name)?.[1]?.replaceAll('_', '-');
  return slice ?? (isBelowKubepods(names, index, relative) ? podFolder.exec(name)?.[1] : undefined);
}

/** A cgroup namespace may hide the folder of all pods and that of the service class. */
function isBelowKubepods(names: readonly string[], index: number, relative: boolean): boolean {
  const parent = serviceClasses.includes(names[index - 1]) ? index - 2 : index - 1;
  return parent < 0 ? relative : names[parent] === 'kubepods';
}
