import type { AccessEventListener } from '../../../../src/plugins/agent/guard/contract.ts';
import type { AccessEvent } from '../../../../src/runtime/protocols/protection/bpf-layouts.ts';

/** Calls `take` once for each attempt, equal ones that came together included. */
export function eachAccessEvent(take: (hit: AccessEvent) => void): AccessEventListener {
  return (hit, { count }) => {
    for (let told = 0; told < count; told++) take(hit);
  };
}
