import type { KnownNamespace } from '../../../../core/cluster/known.ts';
import { counted } from '../../../../core/counted.ts';
import { namespaceName } from '../../../../core/egress/names.ts';
import { selects } from '../../../../core/kubernetes/label-selector.ts';
import { isLabelled } from '../../../../core/kubernetes/labels.ts';
import { capped } from '../../cluster/capped.ts';
import { namespacesOf } from '../../cluster/objects.ts';
import { entryNames, type SeenWebhook, webhooksOf } from '../../cluster/webhooks.ts';
import type { Check, CheckFailure } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';

export const webhookSelectors: Check = {
  ...{ id: 'SVC-OPERATOR-009', area: 'operator', level: 'error', needs: 'cluster' },
  title:
    'The webhook is asked about every pod that it has to protect, and never about those of the cluster itself',
  cause:
    'Selectors or match conditions of the webhook configuration were changed, or a namespace lost the label of its name.',
  fix: 'Apply the chart again, and take objectSelector and further conditions out of the configuration.',
  async run(context) {
    const [webhooks, namespaces] = await Promise.all([webhooksOf(context), namespacesOf(context)]);
    if (webhooks === undefined || webhooks.length === 0) return skipped('There is no webhook configuration');
    const kept = ['kube-system', context.config.operatorNamespace];
    return verdict(
      capped(
        webhooks.flatMap((entry) => [
          ...narrowed(entry),
          ...passedOver(entry, namespaces),
          ...kept
            .filter((name) => covers(entry, { [namespaceName]: name, ...protectedMark }))
            .map(tooWide(entry)),
        ]),
      ),
      counted(namespaces.length, 'namespace'),
    );
  },
};

const protectedMark = { 'svc/protected': 'true' };

const covers = ({ namespaceSelector = {} }: SeenWebhook, labels: Readonly<Record<string, string>>) =>
  selects(namespaceSelector, labels);

function narrowed({ name, objectSelector = {}, matchConditions = [] }: SeenWebhook): readonly CheckFailure[] {
  const { matchLabels = {}, matchExpressions = [] } = objectSelector;
  const selected = Object.keys(matchLabels).length + matchExpressions.length > 0;
  const others = matchConditions.filter(({ expression }) => expression.trim() !== expectedConditions[name]);
  return [
    ...(selected ? [{ subject: name, message: 'Its objectSelector leaves pods out.' }] : []),
    ...others.map((one) => ({
      subject: name,
      message: `Its match condition ${one.name} is not that of the chart.`,
    })),
  ];
}

/** The one is asked about pods of all namespaces, the other about those of labelled ones. */
function passedOver(entry: SeenWebhook, namespaces: readonly KnownNamespace[]): readonly CheckFailure[] {
  const concerned = namespaces.filter(
    ({ labels }) => entry.name !== entryNames.namespace || isLabelled(labels),
  );
  return concerned
    .filter(({ labels }) => !covers(entry, labels))
    .map(({ name }) => ({
      subject: name,
      message: `The selector of ${entry.name} leaves this namespace out.`,
    }));
}

const tooWide =
  (entry: SeenWebhook) =>
  (name: string): CheckFailure => ({
    subject: name,
    message: `${entry.name} is asked about pods of this namespace, which could not start without the operator then.`,
  });

const annotated =
  "has(object.metadata.annotations) && object.metadata.annotations.exists(key, key.matches('(?i)^svc/'))";

/** The conditions under which the API server asks, as the chart writes them. */
const expectedConditions: Readonly<Record<string, string>> = {
  [entryNames.annotated]: annotated,
  [entryNames.namespace]:
    "!has(object.metadata.annotations) || !object.metadata.annotations.exists(key, key.matches('(?i)^svc/'))",
};
