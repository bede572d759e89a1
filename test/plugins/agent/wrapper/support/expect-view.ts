import * as assert from 'uvu/assert';
import type { ViewRecord } from './view.ts';

/** Everything as without an agent, and nothing of it taken for an attempt. */
export function expectUndisturbed(record: ViewRecord, tier: 1 | 2 | 3): void {
  const { looks, expected, ...rest } = record;
  const [first, second] = expected;
  const seen = (environment: string, store: string) => ({
    ...{
      environment,
      self: environment,
      byNumber: environment,
      byThread: [environment],
      inThread: environment,
    },
    ...{ store, child: environment, grandchild: environment },
  });
  assert.equal(
    looks.map(({ why, pid, ...values }) => ({ why, ...values })),
    [
      { why: 'start', ...seen(String(first), String(first)) },
      // under `sighup` the environment keeps what it had
      { why: 'SIGHUP', ...seen(String(first), String(second)) },
    ],
  );
  assert.equal(rest, {
    kind: 'view',
    signalled: true,
    exits: tier === 3 ? [7, 137] : [7],
    probes: [200, 200],
    metrics: { tier: String(tier), enforcing: '1' },
    coreLimit: '1',
    demo: ['fi****ey', 'se****ey', rest.demo[2]],
    warnings: [],
    hits: [],
  });
  // Go's server may end by itself at the signal
  assert.ok([0, 143].includes(Number(rest.demo[2])), String(rest.demo[2]));
}
