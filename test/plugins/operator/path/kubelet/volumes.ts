import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pod, Volume } from '../../../../../src/cluster/kube/pod.ts';
import type { Kubernetes } from '../../../../support/kubernetes.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { fieldOf } from './environment.ts';
import { type NodeStorage, type NodeVolume, nodeVolume } from './node-volume.ts';

interface File {
  readonly text: string;
  readonly mode: number;
  readonly user?: number;
}

type Files = Readonly<Record<string, File>>;
type Data = Readonly<Record<string, string>>;

/** A source of a projected volume. */
interface Source {
  readonly serviceAccountToken?: {
    readonly path: string;
    readonly expirationSeconds: number;
    readonly audience?: string;
  };
  readonly configMap?: {
    readonly name: string;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
  readonly downwardAPI?: {
    readonly items: readonly { readonly path: string; readonly fieldRef: { readonly fieldPath: string } }[];
  };
}

const usualMode = 0o644;
const ownerOnly = 0o600;

/** Makes the volumes of a pod below a folder, or takes those that the node has. @returns them by name */
export async function makeVolumes(
  { kube, ...storage }: NodeStorage & { readonly kube: Kubernetes },
  pod: Pod,
  folder: string,
): Promise<ReadonlyMap<string, NodeVolume>> {
  const all = new Map<string, NodeVolume>();
  for (const volume of pod.spec.volumes ?? []) {
    const own = nodeVolume(volume, storage);
    all.set(volume.name, own ?? (await made(kube, pod, volume, join(folder, volume.name))));
  }
  return all;
}

async function made(kube: Kubernetes, pod: Pod, volume: Volume, path: string): Promise<NodeVolume> {
  mkdirSync(path, { recursive: true });
  await fill(kube, pod, volume, path);
  return { path, options: [] };
}

async function fill(kube: Kubernetes, pod: Pod, volume: Volume, path: string): Promise<void> {
  const group = pod.spec.securityContext?.fsGroup;
  if (volume.emptyDir) {
    chmodSync(path, 0o777);
    if (group !== undefined) chownSync(path, 0, group);
    if (group !== undefined) chmodSync(path, 0o2777);
    return;
  }
  writeLinked(path, await filesOf(kube, pod, volume));
  if (group !== undefined) giveToGroup(path, group);
}

async function filesOf(kube: Kubernetes, pod: Pod, { name, configMap, projected }: Volume): Promise<Files> {
  const sources = projected?.sources ?? (configMap ? [{ configMap }] : undefined);
  if (sources === undefined) throw new Error(`${name}: this kubelet does not know such a volume`);
  const mode = projected?.defaultMode ?? usualMode;
  const all = await Promise.all(
    (sources as readonly Source[]).map((source) => project(kube, pod, source, mode)),
  );
  return Object.assign({}, ...all);
}

async function project(kube: Kubernetes, pod: Pod, source: Source, mode: number): Promise<Files> {
  const { serviceAccountToken: token, configMap, downwardAPI } = source;
  if (token) {
    const text = await requestToken(kube, pod, token);
    return { [token.path]: { text, ...tokenAccess(pod, mode) } };
  }
  if (downwardAPI)
    return Object.fromEntries(
      downwardAPI.items.map(({ path, fieldRef }) => [path, { text: fieldOf(pod, fieldRef.fieldPath), mode }]),
    );
  const data = await configMapData(kube, pod, configMap);
  const items = configMap?.items ?? Object.keys(data).map((key) => ({ key, path: key }));
  return Object.fromEntries(items.map(({ key, path }) => [path, { text: data[key] ?? '', mode }]));
}

/** Source: kubernetes/pkg/volume/projected/projected.go */
function tokenAccess(pod: Pod, mode: number): Omit<File, 'text'> {
  const user = commonUser(pod);
  if (pod.spec.securityContext?.fsGroup !== undefined) return { mode: ownerOnly };
  return user === undefined ? { mode } : { mode: ownerOnly, user };
}

/**
 * The one user of all containers, which owns projected tokens.
 * Source: kubernetes/pkg/volume/util/util.go, FsUserFrom
 */
function commonUser({ spec }: Pod): number | undefined {
  const users = [...(spec.initContainers ?? []), ...spec.containers].map(
    ({ securityContext }) => securityContext?.runAsUser ?? spec.securityContext?.runAsUser,
  );
  return new Set(users).size === 1 ? users[0] : undefined;
}

/** Of the pod's service account, good as long as the pod is there, for the API server where no audience is named. */
async function requestToken(
  kube: Kubernetes,
  pod: Pod,
  { expirationSeconds, audience }: Required<Source>['serviceAccountToken'],
): Promise<string> {
  const { namespace, name, uid } = pod.metadata;
  const account = pod.spec.serviceAccountName ?? 'default';
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name, uid };
  const { status } = await kube.must('POST', path, {
    spec: { expirationSeconds, boundObjectRef, ...(audience !== undefined && { audiences: [audience] }) },
  });
  return status.token;
}

/** A pod waits for the config maps that it mounts, and for the keys of them that it names. */
function configMapData(
  kube: Kubernetes,
  { metadata }: Pod,
  { name, items = [] }: NonNullable<Source['configMap']> = { name: '' },
): Promise<Data> {
  const path = `/api/v1/namespaces/${metadata.namespace}/configmaps/${name}`;
  return waitFor(`config map ${name}`, async () => {
    const { data = {} } = (await kube.must('GET', path)) as { readonly data?: Data };
    return items.every(({ key }) => Object.hasOwn(data, key)) && data;
  });
}

/**
 * Files behind a link that can be changed at one go, each with a link of its own.
 * Source: kubernetes/pkg/volume/util/atomic_writer.go
 */
function writeLinked(folder: string, files: Files): void {
  const version = '..2026_01_01_00_00_00.1';
  mkdirSync(join(folder, version));
  symlinkSync(version, join(folder, '..data'));
  for (const [name, { text, mode, user }] of Object.entries(files)) {
    const file = join(folder, version, name);
    writeFileSync(file, text);
    chmodSync(file, mode);
    if (user !== undefined) chownSync(file, user, -1);
    symlinkSync(join('..data', name), join(folder, name));
  }
}

/** Source: kubernetes/pkg/volume/volume_linux.go, SetVolumeOwnership for a volume that is mounted read-only */
function giveToGroup(folder: string, group: number): void {
  chownSync(folder, -1, group);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) giveToGroup(path, group);
    else if (entry.isFile()) {
      chownSync(path, -1, group);
      chmodSync(path, statSync(path).mode | 0o440);
    }
  }
}
