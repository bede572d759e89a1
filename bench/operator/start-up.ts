import { cpuOf } from '../../test/support/cpu-time.ts';
import { http } from '../../test/support/http.ts';
import type { MemoryCgroup } from '../../test/support/limit-cgroup.ts';
import type { OperatorCluster, Replica } from '../../test/support/operator-cluster.ts';
import type { Registry } from '../../test/support/registry.ts';
import { waitFor } from '../../test/support/wait-for.ts';

export interface StartUp {
  readonly replica: Replica;
  /** Seconds until it listened, and until it was ready: all listed, the webhook's certificate in place. */
  readonly listening: number;
  readonly ready: number;
  /** Seconds of a processor by then. */
  readonly cpu: number;
}

/** Where images are said to be. */
export const mirroredRegistry = 'registry.example';

/** What the operator's image sets, in manifests/Dockerfile. */
const imageEnvironment = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '65536',
};

/**
 * @param registry of the images that are looked up; as a mirror, since a pod's own loopback is never asked
 * @param memory that it is given
 */
export async function measureStartUp(
  cluster: OperatorCluster,
  registry: Registry,
  memory: MemoryCgroup,
): Promise<StartUp> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1_000;
  const mirrors = { SVC_OPERATOR_REGISTRY_MIRRORS: `${mirroredRegistry}=${registry.url}` };
  const replica = await cluster.add({ inside: true, memory, env: { ...imageEnvironment, ...mirrors } });
  const listening = seconds();
  const url = `http://${replica.started['health']}/readyz`;
  await waitFor('the operator to be ready', async () => (await http(url)).status === 200, {
    timeoutMs: 120_000,
  });
  return { replica, listening, ready: seconds(), cpu: cpuOf(replica.pid) / 1_000 };
}
