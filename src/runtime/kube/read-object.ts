import type { KubeClient } from './client.ts';
import { unless } from './unless.ts';

/** @returns undefined where there is none. @throws KubeError */
export const readObject = <T>(
  client: KubeClient,
  path: string,
  signal?: AbortSignal,
): Promise<T | undefined> => unless(client.request<T>({ path, signal }), 'KUBE_NOT_FOUND');
