import type { KubeObject } from '../../../../runtime/kube/objects.ts';
import { getObject, listObjects } from '../../cluster/read.ts';
import type { Check, CheckContext } from '../../contract.ts';
import { failed, passed } from '../../results.ts';
import { enforcementOf, objectionTo, type SeenDaemonSet, settingsOf } from './network-plugins.ts';

export const plugin: Check = {
  ...{ id: 'SVC-EGRESS-003', area: 'egress', level: 'error', needs: 'cluster' },
  title: 'A network plugin that enforces network policies runs',
  cause:
    'The API server takes policies whether or not anybody enforces them: flannel and the plugin of Amazon do it only where that was switched on, others can be told not to, by arguments of their DaemonSet or, Cilium, in its ConfigMap: both are looked at. A plugin that is not known here is a warning.',
  fix: 'Install or switch on one that enforces them, such as Cilium or Calico; --probe-pods measures whether it does.',
  async run(context) {
    const all = (await listObjects(context, { path: '/apis/apps/v1/daemonsets', keep: seen })) ?? [];
    const plugins = await Promise.all(all.map((one) => withSettings(context, one)));
    const { enforces = [], ignores = [] } = Object.groupBy(plugins, enforcementOf);
    if (enforces.length > 0) return passed(enforces.map(keyOf).join(', '));
    if (ignores.length > 0) return failed(...ignores.map(failureOf));
    const message =
      'No network plugin that is known here runs, so that nobody can tell whether policies are enforced.';
    return failed({ subject: 'cluster', message, level: 'warning' });
  },
};

const keyOf = ({ namespace, name }: SeenDaemonSet) => `${namespace}/${name}`;
const failureOf = (one: SeenDaemonSet) => ({ subject: keyOf(one), message: objectionTo(one) ?? '' });

async function withSettings(context: CheckContext, one: SeenDaemonSet): Promise<SeenDaemonSet> {
  const name = settingsOf(one);
  if (name === undefined) return one;
  const path = `/api/v1/namespaces/${one.namespace}/configmaps/${name}`;
  const found = await getObject<{ readonly data?: Readonly<Record<string, string>> }>(context, path);
  return { ...one, settings: found?.data };
}

type DaemonSetObject = KubeObject & {
  readonly spec?: {
    readonly template?: {
      readonly spec?: { readonly containers?: readonly StartedContainer[] };
    };
  };
  readonly status?: { readonly numberReady?: number };
};

interface StartedContainer {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
}

function seen({ metadata, spec, status }: DaemonSetObject): SeenDaemonSet {
  const containers = spec?.template?.spec?.containers ?? [];
  return {
    ...{ namespace: metadata.namespace ?? '', name: metadata.name, ready: status?.numberReady ?? 0 },
    containers: containers.map(({ name, command = [], args = [] }) => ({
      name,
      args: [...command, ...args],
    })),
  };
}
