import { counted } from '../../../../core/counted.ts';
import { secretReferences as referencesOf } from '../../../../core/score/secret-references.ts';
import { capped } from '../../cluster/capped.ts';
import { protectedPodsOf } from '../../cluster/protected-pods.ts';
import type { Check } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';

export const secretReferences: Check = {
  ...{ id: 'SVC-OPERATOR-017', area: 'operator', level: 'warning', needs: 'cluster', timeoutMs: 60_000 },
  title: 'No protected pod is given a Kubernetes Secret',
  cause:
    'Values of Kubernetes Secrets lie in etcd and in the API server, where the provider of the cluster can read them.',
  fix: 'Move the values to the secrets server, name their path in svc/secret-paths, and drop the reference.',
  async run(context) {
    const { labelled } = await protectedPodsOf(context);
    if (labelled.length === 0) return skipped('There are no protected pods');
    const failures = labelled.flatMap(({ key, pod }) => {
      const [first, ...others] = referencesOf(pod);
      if (first === undefined) return [];
      const more = others.length > 0 ? `, and ${others.length} more` : '';
      return [{ subject: key, message: `A Secret reaches it as ${first}${more}.` }];
    });
    return verdict(capped(failures), counted(labelled.length, 'pod'));
  },
};
