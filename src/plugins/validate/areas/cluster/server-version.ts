import { isAtLeast, readVersion } from '../../../../runtime/kube/server-version.ts';
import { send } from '../../cluster/read.ts';
import type { Check } from '../../contract.ts';
import { failed, notEvaluated, passed } from '../../results.ts';

export const serverVersion: Check = {
  ...{ id: 'SVC-CLUSTER-001', area: 'cluster', level: 'error', needs: 'cluster' },
  title: 'The API server is of Kubernetes 1.28 or later',
  cause:
    'Before 1.28 webhooks have no match conditions: the webhook would be asked about every pod, or about none.',
  fix: 'Upgrade the cluster.',
  async run(context) {
    const version = readVersion(await send(context, { path: '/version' }));
    if (version === undefined) return notEvaluated('The API server does not say which version it is of');
    const text = `${version.major}.${version.minor}`;
    if (isAtLeast(version, 1, 28)) return passed(text);
    return failed({ subject: 'API server', message: `It is of Kubernetes ${text}.` });
  },
};
