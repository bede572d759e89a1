import { applyPatch } from 'rfc6902';
import * as assert from 'uvu/assert';
import type { Pod } from '../../../../../src/cluster/kube/pod.ts';
import type { Decision } from '../../../../../src/plugins/operator/webhook/decide.ts';

/** The pod as the API server has it after a decision that injects. */
export function injected(pod: Pod, decision: Decision): Pod {
  assert.is(decision.kind, 'inject');
  const { patch } = decision as Extract<Decision, { kind: 'inject' }>;
  const patched = structuredClone(pod);
  assert.equal(
    applyPatch(patched, structuredClone([...patch])).filter((error) => error !== null),
    [],
  );
  return patched;
}
