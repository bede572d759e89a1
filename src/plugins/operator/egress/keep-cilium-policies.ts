import { isDeepStrictEqual } from 'node:util';
import type { CiliumPolicy } from '../../../core/egress/cilium/contract.ts';
import { ciliumPolicies } from '../../../core/egress/cilium/policies.ts';
import type { EgressFacts } from '../../../core/egress/contract.ts';
import { isOperators, type OwnedMetadata } from '../../../core/kubernetes/ownership.ts';
import { apply } from '../../../runtime/kube/apply.ts';
import type { KubeClient } from '../../../runtime/kube/client.ts';
import { hasCode } from '../../../runtime/kube/errors.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { createRecent } from '../../../runtime/kube/recent.ts';
import { unless } from '../../../runtime/kube/unless.ts';

const group = '/apis/cilium.io/v2';
const plural = 'ciliumnetworkpolicies';

/**
 * Policies by name for Cilium, beside those by address: Cilium allows what either allows, so that a name may point
 * anywhere, and pods keep the policies by address where only Cilium's definitions are left.
 */
export interface CiliumKeeper {
  /** Makes or mends those of a namespace. @returns warnings @throws KubeError */
  keep(facts: EgressFacts, signal: AbortSignal): Promise<readonly string[]>;
  /** Removes one of ours, if it is there. @throws KubeError */
  remove(namespace: string, name: string, signal: AbortSignal): Promise<void>;
}

export interface CiliumKeeperOptions {
  readonly client: KubeClient;
  readonly now: () => number;
  /** For so long an answer about which resources there are is taken. Default: 60 s. */
  readonly freshMs?: number;
  readonly onApplied: (policy: { readonly namespace: string; readonly name: string }) => void;
}

export function createCiliumKeeper(options: CiliumKeeperOptions): CiliumKeeper {
  const { client, now, freshMs = 60_000, onApplied } = options;
  const known = createRecent<boolean>({ now, freshMs, maxKeys: 1 });
  const isThere = (signal: AbortSignal) => known.get(group, () => hasCilium(client, signal));
  const ours = async (path: string, signal: AbortSignal) => {
    const found = await unless(client.request<CiliumObject>({ path, signal }), 'KUBE_NOT_FOUND');
    return { found, foreign: found !== undefined && !isOperators(found.metadata) };
  };
  return {
    async keep(facts, signal) {
      if (!(await isThere(signal))) return [];
      const denied = `Cilium is there, and the operator may not keep policies by name: ${plural}.cilium.io`;
      try {
        for (const policy of ciliumPolicies(facts).policies) {
          const path = pathOf(policy.metadata);
          const { found, foreign } = await ours(path, signal);
          if (foreign || says(found, policy)) continue;
          await apply(client, { path, object: policy, force: true, signal });
          onApplied(policy.metadata);
        }
        return [];
      } catch (error) {
        if (hasCode(error, 'KUBE_DENIED')) return [denied];
        throw error;
      }
    },
    async remove(namespace, name, signal) {
      if (!(await isThere(signal))) return;
      const path = pathOf({ namespace, name });
      const { found, foreign } = await ours(path, signal);
      if (found === undefined || foreign) return;
      const { uid, resourceVersion } = found.metadata;
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion } };
      await unless(client.request({ method: 'DELETE', path, body, signal }), 'KUBE_NOT_FOUND');
    },
  };
}

function pathOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${group}/namespaces/${encodeURIComponent(namespace)}/${plural}/${encodeURIComponent(name)}`;
}

interface CiliumObject extends KubeObject {
  readonly spec?: object;
  readonly metadata: KubeObject['metadata'] & OwnedMetadata;
}

async function hasCilium(client: KubeClient, signal: AbortSignal): Promise<boolean> {
  const list = client.request<{ readonly resources?: readonly { readonly name: string }[] }>({
    ...{ path: group, signal },
  });
  const found = await unless(list, 'KUBE_NOT_FOUND', 'KUBE_DENIED');
  return found?.resources?.some(({ name }) => name === plural) ?? false;
}

function says(found: CiliumObject | undefined, { spec }: CiliumPolicy): boolean {
  return found !== undefined && isDeepStrictEqual(found.spec, JSON.parse(JSON.stringify(spec)));
}
