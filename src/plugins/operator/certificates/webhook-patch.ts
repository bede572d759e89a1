import { isText, member } from '../../../runtime/kube/objects.ts';

export interface WebhookFacts {
  readonly count: number;
  /** Names of webhooks that let pods pass unprotected when the operator is away. */
  readonly failOpen: readonly string[];
  /** JSON patch that writes the bundle where it is missing; empty where it is there already. */
  readonly patch: readonly object[];
}

/**
 * What a MutatingWebhookConfiguration says, and what has to change in it.
 * @param bundle PEM
 */
export function readWebhooks(configuration: unknown, bundle: string): WebhookFacts {
  const caBundle = Buffer.from(bundle).toString('base64');
  const listed = (configuration as { webhooks?: unknown } | null)?.webhooks;
  const webhooks: readonly unknown[] = Array.isArray(listed) ? listed : [];
  const changes = webhooks.flatMap((webhook, index) =>
    member(webhook, 'clientConfig')['caBundle'] === caBundle
      ? []
      : [{ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle }],
  );
  return {
    count: webhooks.length,
    failOpen: webhooks.filter(isFailOpen).map(nameOf),
    patch: changes.length === 0 ? [] : [unchangedSince(configuration), ...changes],
  };
}

/** Indexes are those of this version; on another one the patch fails, and everything is read again. */
function unchangedSince(configuration: unknown): object {
  const { resourceVersion } = member(configuration, 'metadata');
  return { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion };
}

const isFailOpen = (webhook: unknown): boolean =>
  (webhook as { failurePolicy?: unknown } | null)?.failurePolicy === 'Ignore';

function nameOf(webhook: unknown): string {
  const name = (webhook as { name?: unknown } | null)?.name;
  return isText(name) ? name : 'without a name';
}
