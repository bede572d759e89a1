import { counted } from '../../../../../core/counted.ts';
import { operatorMetrics } from '../../../cluster/leader.ts';
import { sumOf } from '../../../cluster/metrics-text.ts';
import { operatorOf } from '../../../cluster/operator.ts';
import type { Check } from '../../../contract.ts';
import { failed, passed, skipped } from '../../../results.ts';

const metric = 'svc_image_lookups_total';

export const operatorToRegistries: Check = {
  ...{ id: 'SVC-NET-003', area: 'connectivity', level: 'warning', needs: 'cluster' },
  title: 'The operator reaches image registries (it has looked images up)',
  cause:
    'networkPolicy.registries of the chart, a firewall, or a registry that wants a mirror or a pull secret. Only look-ups since the leading replica started are known.',
  fix: 'See image.* in the log of the operator; set operator.registryMirrors, or svc/command in the pods.',
  async run(context) {
    const operator = await operatorOf(context);
    if (operator === undefined) return skipped('The operator is not installed');
    const page = await operatorMetrics(context);
    const count = (outcome: string) => sumOf(page, metric, { outcome }) ?? 0;
    const [found, broken] = [count('found'), count('failed') + count('stale')];
    if (found > 0) return passed(counted(found, 'look-up'));
    if (broken === 0) return skipped('The operator has not had to look an image up yet');
    const subject = `${operator.namespace}/${operator.name}`;
    return failed({ subject, message: `None of its ${broken} look-ups got an answer that it could use.` });
  },
};
