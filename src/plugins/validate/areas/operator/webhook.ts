import { X509Certificate } from 'node:crypto';
import { namespaceName } from '../../../../cluster/egress/contract.ts';
import type { KnownNamespace } from '../../../../cluster/kube/known-objects.ts';
import { isLabelled, type LabelSelector, selects } from '../../../../cluster/kube/labels.ts';
import { certificatesIn, validityOf } from '../../../../runtime/net/certificates.ts';
import { counted } from '../../../../runtime/units.ts';
import { type CheckFailure, failed, Skipped, shared, skipped, verdict, verdictOnPart } from '../../check.ts';
import { operatorName } from '../../cluster/operator.ts';
import { capped, getObject, namespacesOf } from '../../cluster/read.ts';
import { checkOf, clusterCheck } from '../../make-check.ts';
import { annotatedPod } from './pods-mutated.ts';

/** Entries of the operator's configuration; undefined if there is none. @throws NotEvaluated */
export const webhooksOf = shared(async (context): Promise<readonly SeenWebhook[] | undefined> => {
  const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${operatorName}`;
  const found = await getObject<{ readonly webhooks?: readonly SeenWebhook[] }>(context, path);
  return found && (found.webhooks ?? []);
});

/** For checks of the entries themselves. @throws Skipped if there is none */
export function assertConfigured(
  webhooks: readonly SeenWebhook[] | undefined,
): asserts webhooks is readonly SeenWebhook[] {
  if (webhooks === undefined || webhooks.length === 0) throw new Skipped('There is no webhook configuration');
}

/** A check of the entries themselves. */
export const webhooksCheck = checkOf('cluster', async (context) => {
  const webhooks = await webhooksOf(context);
  assertConfigured(webhooks);
  return webhooks;
});

export const webhookEntries = clusterCheck('SVC-OPERATOR-007', 'error', {
  title: 'The webhook configuration sends the creation of pods to the operator',
  cause: 'The MutatingWebhookConfiguration was deleted or changed by hand, or by a policy engine.',
  fix: 'Apply the chart again; the operator then writes the CA bundle into it.',
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
});

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

export const webhookSelectors = clusterCheck('SVC-OPERATOR-009', 'error', {
  title: 'The webhook receives every pod that it has to protect, and none of the cluster itself',
  cause:
    'Selectors or match conditions of the webhook configuration were changed, or a namespace lost the label of its name.',
  fix: 'Apply the chart again, and remove objectSelector and further conditions from the configuration.',
  async run(context) {
    const [webhooks, namespaces] = await Promise.all([webhooksOf(context), namespacesOf(context)]);
    assertConfigured(webhooks);
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
});

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

/** Namespaces that an entry skips: one entry must cover all namespaces, the other the labelled ones. */
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
    message: `${entry.name} is called for pods of this namespace, which then cannot start without the operator.`,
  });

const annotated =
  "has(object.metadata.annotations) && object.metadata.annotations.exists(key, key.matches('(?i)^svc/'))";

/** One entry for pods with svc annotations, one for the other pods in namespaces of protected workloads. */
const entryNames = { annotated: 'annotated.svc.io', namespace: 'namespace.svc.io' } as const;

/** The conditions under which the API server asks, as the chart writes them. */
const expectedConditions: Readonly<Record<string, string>> = {
  [entryNames.annotated]: annotated,
  [entryNames.namespace]:
    "!has(object.metadata.annotations) || !object.metadata.annotations.exists(key, key.matches('(?i)^svc/'))",
};

/** The operator replaces its own authority long before, after two thirds of its lifetime. */
const nearShare = 1 / 10;

export const webhookBundle = webhooksCheck('SVC-OPERATOR-010', 'error', {
  timeoutMs: 40_000,
  title: "The webhook's CA bundle is valid, and its certificate comes from it",
  cause:
    'The operator has not written the bundle yet or is not permitted to, somebody replaced it, or the certificate of operator.webhook.certSecret comes from another authority.',
  fix: 'Look for webhook.bundle in the log of the operator, and check that it may get and patch the configuration; put the authority into ca.crt of certSecret.',
  async run(webhooks, context) {
    const failures = webhooks.flatMap((entry) => problemOf(entry, context.now()));
    if (failures.some(({ level }) => level === undefined)) return failed(...failures);
    const tried = await annotatedPod(context);
    if (tried.kind === 'untrusted')
      return failed({ subject: 'svc-operator', message: `${tried.because}.` }, ...failures);
    if (tried.kind === 'unanswered' && failures.length === 0)
      return skipped('The webhook does not answer, so its certificate is not known');
    // the webhook was not called, or failurePolicy Ignore hid a wrong certificate
    if (tried.kind === 'bare')
      return verdictOnPart(
        failures,
        'The webhook lets a pod pass that it has to change, so its certificate is not known',
      );
    return verdict(failures);
  },
});

function problemOf({ name, clientConfig = {} }: SeenWebhook, now: number): readonly CheckFailure[] {
  const { caBundle = '' } = clientConfig;
  if (caBundle === '') return [{ subject: name, message: 'It has no CA bundle.' }];
  const certificates = certificatesOf(caBundle);
  if (certificates === undefined || certificates.length === 0)
    return [{ subject: name, message: 'Its CA bundle cannot be read.' }];
  const last = certificates.map(validityOf).reduce((best, one) => (one.to > best.to ? one : best));
  const end = new Date(last.to).toISOString();
  if (now >= last.to) return [{ subject: name, message: `Its CA bundle expired at ${end}.` }];
  if ((last.to - now) / (last.to - last.from) >= nearShare) return [];
  return [{ subject: name, message: `Its CA bundle expires at ${end}.`, level: 'warning' }];
}

/** Undefined if any certificate cannot be read: then the API server would accept none. */
function certificatesOf(caBundle: string): readonly X509Certificate[] | undefined {
  try {
    return certificatesIn(Buffer.from(caBundle, 'base64').toString()).map((pem) => new X509Certificate(pem));
  } catch {
    return undefined;
  }
}

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/mutating-webhook-configuration-v1/ */
interface SeenWebhook {
  readonly name: string;
  readonly clientConfig?: {
    readonly caBundle?: string;
    readonly url?: string;
    readonly service?: { readonly namespace: string; readonly name: string; readonly port?: number };
  };
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[];
    readonly operations?: readonly string[];
    readonly resources?: readonly string[];
  }[];
  readonly failurePolicy?: string;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  readonly sideEffects?: string;
  readonly reinvocationPolicy?: string;
  readonly timeoutSeconds?: number;
}
