import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Kubernetes } from '../../../../support/kubernetes.ts';
import { temporaryFolder } from '../../../../support/temporary.ts';

/** What makes a process take itself for a container of a pod of that cluster. */
export interface Inside {
  readonly env: NodeJS.ProcessEnv;
  /** A command that executes the rest of its arguments. */
  readonly under: readonly string[];
  remove(): Promise<void>;
}

/** A mount namespace of its own, in which a service account lies where the kubelet puts it. */
const script = `
  mount -t tmpfs tmpfs /run
  mkdir -p /run/secrets/kubernetes.io/serviceaccount
  cp "$0"/* /run/secrets/kubernetes.io/serviceaccount/
  exec "$@"`;

/** @param token default: the administrator's */
export function insideOf(
  { adminToken, caFile, port }: Pick<Kubernetes, 'adminToken' | 'caFile' | 'port'>,
  token = adminToken,
): Inside {
  const folder = temporaryFolder('service-account');
  writeFileSync(join(folder.path, 'token'), token, { mode: 0o600 });
  copyFileSync(caFile, join(folder.path, 'ca.crt'));
  return {
    env: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(port) },
    under: ['/usr/bin/unshare', '--mount', '/bin/sh', '-ec', script, folder.path],
    remove: () => folder.remove(),
  };
}
