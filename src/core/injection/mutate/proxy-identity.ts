import type { Container, EnvironmentVariable, VolumeMount } from '../../kubernetes/pod.ts';
import { resolvedPath } from './mount-path.ts';

/** By which EKS gives a role to a pod; on other clouds the metadata server does, for all containers of a pod. */
const roleVariables = [
  'AWS_ROLE_ARN',
  'AWS_ROLE_SESSION_NAME',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_STS_REGIONAL_ENDPOINTS',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
];
const regionVariables = ['AWS_REGION', 'AWS_DEFAULT_REGION'];
const tokenFiles = ['AWS_WEB_IDENTITY_TOKEN_FILE', 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'];

export interface CloudIdentity {
  readonly variables: readonly EnvironmentVariable[];
  readonly mounts: readonly VolumeMount[];
}

/** The region of the pod, and its role where the proxy has no credentials of its own, as wrapped containers have them. */
export function cloudIdentity(containers: readonly Container[], withRole: boolean): CloudIdentity {
  const names = [...regionVariables, ...(withRole ? roleVariables : [])];
  const found = names
    .map((name) => containers.map((one) => plainVariable(one, name)).find((one) => one !== undefined))
    .filter((one) => one !== undefined);
  const files = found.filter(({ name }) => tokenFiles.includes(name)).map(({ value = '' }) => value);
  const mounts = files
    .map((file) =>
      containers.flatMap(({ volumeMounts = [] }) => volumeMounts).find((mount) => holds(mount, file)),
    )
    .filter((mount) => mount !== undefined);
  return { variables: found, mounts: [...new Map(mounts.map((mount) => [mount.mountPath, mount])).values()] };
}

/** One whose value does not depend on others of the container. */
function plainVariable({ env = [] }: Container, name: string): EnvironmentVariable | undefined {
  const found = env.findLast((one) => one.name === name);
  return found?.value && !found.value.includes('$') ? { name, value: found.value } : undefined;
}

function holds({ mountPath }: VolumeMount, file: string): boolean {
  const folder = resolvedPath(mountPath);
  return file.startsWith(folder === '/' ? folder : `${folder}/`);
}
