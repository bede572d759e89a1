import { operatorName } from '../../cluster/operator.ts';
import { entryNames, type SeenWebhook, webhooksOf } from '../../cluster/webhooks.ts';
import type { Check } from '../../contract.ts';
import { failed, verdict } from '../../results.ts';

export const webhookEntries: Check = {
  ...{ id: 'SVC-OPERATOR-007', area: 'operator', level: 'error', needs: 'cluster' },
  title: 'The webhook is configured for the creation of pods, at the operator',
  cause: 'The MutatingWebhookConfiguration was deleted or changed by hand, or by a policy engine.',
  fix: 'Apply the chart again; the operator writes the CA bundle into it then.',
  async run(context) {
    const webhooks = await webhooksOf(context);
    if (webhooks === undefined)
      return failed({ subject: operatorName, message: 'There is no such MutatingWebhookConfiguration.' });
    const failures = Object.values(entryNames).flatMap((name) => {
      const entry = webhooks.find((one) => one.name === name);
      if (entry === undefined) return [{ subject: name, message: 'The entry is missing.' }];
      return problemsOf(entry, context.config.operatorNamespace).map((message) => ({
        subject: name,
        message,
      }));
    });
    return verdict(failures);
  },
};

function problemsOf(
  { rules = [], clientConfig = {}, ...entry }: SeenWebhook,
  namespace: string,
): readonly string[] {
  const { service, url } = clientConfig;
  const isOurs = service?.namespace === namespace && service.name === operatorName && url === undefined;
  return [
    ...(rules.some(isForPods) ? [] : ['It is not about the creation of pods.']),
    ...(isOurs ? [] : [`It does not go to the Service ${namespace}/${operatorName}.`]),
    ...(entry.sideEffects === 'None' ? [] : ['Its sideEffects are not None: dry runs are refused.']),
    ...(entry.reinvocationPolicy === 'IfNeeded'
      ? []
      : ['Its reinvocationPolicy is not IfNeeded: what later webhooks add is not protected.']),
  ];
}

function isForPods({
  apiGroups = [],
  operations = [],
  resources = [],
}: NonNullable<SeenWebhook['rules']>[number]) {
  const has = (list: readonly string[], one: string) => list.includes(one) || list.includes('*');
  return has(apiGroups, '') && has(operations, 'CREATE') && has(resources, 'pods');
}
