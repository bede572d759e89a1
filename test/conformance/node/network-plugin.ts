import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { archive } from '../../support/node/images.ts';
import type { Stoppable } from '../../support/types.ts';
import { requireTool } from '../../testbed/ensure.ts';
import { comesAbout, kubectl, type NodeBed, podsGone, readyPods } from './bed.ts';

const NAME = 'kube-network-policies';
const NAMESPACE = 'kube-system';
const RBAC = 'rbac.authorization.k8s.io';
const labels = { app: NAME };

/**
 * Has the network policies of the node's pods enforced, until it is stopped.
 * @throws ToolUnavailable where the plugin cannot be built
 */
export async function startNetworkPlugin(bed: NodeBed): Promise<Stoppable> {
  await pushPlugin(bed);
  await bed.kube.createServiceAccount({ namespace: NAMESPACE, name: NAME });
  await bed.kube.apply(...pluginObjects());
  await readyPods(bed, NAMESPACE, `app=${NAME}`);
  await comesAbout(bed, NAMESPACE, 'the first rules of the network plugin', async () => {
    const log = await kubectl(bed, 'logs', '--namespace', NAMESPACE, `daemonset/${NAME}`);
    return log.includes('Policy engine is ready');
  });
  return {
    async stop() {
      await kubectl(bed, 'delete', 'daemonset', NAME, '--namespace', NAMESPACE);
      await podsGone(bed, NAMESPACE, `app=${NAME}`);
    },
  };
}

async function pushPlugin({ folder, registry }: NodeBed): Promise<void> {
  const { bins } = await requireTool(NAME);
  const root = join(folder, `image-${NAME}`);
  mkdirSync(root, { recursive: true });
  copyFileSync(bins[NAME] as string, join(root, NAME));
  await registry.push(NAME, '1', { tar: archive(root), level: 0, entrypoint: [`/${NAME}`] });
}

function pluginObjects(): object[] {
  const metadata = { name: NAME, namespace: NAMESPACE };
  const rule = (apiGroup: string, ...resources: string[]) => ({
    ...{ apiGroups: [apiGroup], resources, verbs: ['list', 'watch'] },
  });
  return [
    {
      ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: NAME } },
      rules: [rule('', 'pods', 'namespaces'), rule('networking.k8s.io', 'networkpolicies')],
    },
    {
      ...{ apiVersion: `${RBAC}/v1`, kind: 'ClusterRoleBinding', metadata: { name: NAME } },
      subjects: [{ kind: 'ServiceAccount', ...metadata }],
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: NAME },
    },
    {
      ...{ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata },
      spec: {
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            ...{ serviceAccountName: NAME, hostNetwork: true },
            containers: [
              {
                ...{ name: NAME, image: `registry.example/${NAME}:1` },
                // it takes its rules away when it ends only where it drops what it cannot judge
                args: ['--fail-open=false', '--disable-nri', '--metrics-bind-address=127.0.0.1:9080'],
                securityContext: { privileged: true },
              },
            ],
          },
        },
      },
    },
  ];
}
