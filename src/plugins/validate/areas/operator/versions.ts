import { agentsOf, type Installed, operatorOf } from '../../cluster/operator.ts';
import type { Check } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';

export const versions: Check = {
  ...{ id: 'SVC-OPERATOR-004', area: 'operator', level: 'warning', needs: 'cluster' },
  title: 'Operator, agents and this svc are of the same version',
  cause: 'One of them was upgraded without the others, or a roll-out has not ended.',
  fix: 'Upgrade the release as a whole, wait for its roll-out, and run svc of the same version.',
  async run(context) {
    const found = await Promise.all([operatorOf(context), agentsOf(context)]);
    const installed = found.filter((one) => one !== undefined);
    if (installed.length === 0) return skipped('Neither operator nor agents are installed');
    return verdict(
      installed.flatMap((one) => differences(one, context.version)),
      context.version,
    );
  },
};

function differences({ namespace, name, version, wanted, updated }: Installed, own: string) {
  const subject = `${namespace}/${name}`;
  const another =
    version === own
      ? []
      : [{ subject, message: `It is of version ${version ?? 'that it does not tell'}, this svc of ${own}.` }];
  const old = wanted - updated;
  return old > 0
    ? [...another, { subject, message: `${old} of its pods are of a template before the current one.` }]
    : another;
}
