import type { LabelSelector } from '../../../core/kubernetes/label-selector.ts';
import { shared } from '../shared.ts';
import { operatorName } from './operator.ts';
import { getObject } from './read.ts';

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/mutating-webhook-configuration-v1/ */
export interface SeenWebhook {
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

/** One for pods with annotations of ours, one for the other pods of namespaces of protected workloads. */
export const entryNames = { annotated: 'annotated.svc.io', namespace: 'namespace.svc.io' } as const;

/** Entries of the operator's configuration; undefined where there is none. @throws NotEvaluated */
export const webhooksOf = shared(async (context): Promise<readonly SeenWebhook[] | undefined> => {
  const path = `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${operatorName}`;
  const found = await getObject<{ readonly webhooks?: readonly SeenWebhook[] }>(context, path);
  return found && (found.webhooks ?? []);
});
