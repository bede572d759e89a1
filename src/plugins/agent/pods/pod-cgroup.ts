/** A UUID, or the manifest hash by which the kubelet identifies a static pod. */
const uidWith = (dash: string) => `(?:[0-9a-f]{8}(?:${dash}[0-9a-f]{4}){3}${dash}[0-9a-f]{12}|[0-9a-f]{32})`;
const wholeUid = new RegExp(`^${uidWith('-')}$`);

/** Name under the cgroupfs driver: `pod<uid>`. */
const podFolder = new RegExp(`^pod(${uidWith('-')})$`);
/**
 * Name under the systemd driver, which replaces `-` by `_`: `kubepods-burstable-pod<uid>.slice`, below a cgroup root
 * that the kubelet may have been given; `:runtime:id` follows if the runtime uses the slice as a folder name.
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
 * @param cgroupPath from /proc/PID/cgroup, including leading `/..` in a cgroup namespace
 */
export function podUidOf(cgroupPath: string): string | undefined {
  const all = cgroupPath.split('/').filter((name) => name !== '');
  const above = all.findIndex((name) => name !== '..');
  const names = all.slice(above);
  // the outermost pod counts, because names below a container are chosen inside it
  const at = names.findIndex((_, index) => uidAt(names, index, above > 0) !== undefined);
  // names below a user slice are chosen by the user
  return at < 0 || names.slice(0, at).includes('user.slice') ? undefined : uidAt(names, at, above > 0);
}

/**
 * UID of the pod that a process belongs to; undefined if it is in no pod, or in cgroups of several.
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

/** The path in `hierarchy:controllers:path`, which may itself contain colons. */
function pathOf(line: string): string {
  return line.split(':').slice(2).join(':');
}

function uidAt(names: readonly string[], index: number, relative: boolean): string | undefined {
  const name = names[index] ?? '';
  const slice = podSlice.exec(name)?.[1]?.replaceAll('_', '-');
  return slice ?? (isBelowKubepods(names, index, relative) ? podFolder.exec(name)?.[1] : undefined);
}

/** A cgroup namespace may hide the folders of all pods and of the service class. */
function isBelowKubepods(names: readonly string[], index: number, relative: boolean): boolean {
  const parent = serviceClasses.includes(names[index - 1]) ? index - 2 : index - 1;
  return parent < 0 ? relative : names[parent] === 'kubepods';
}
