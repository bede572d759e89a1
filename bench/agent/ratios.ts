import type { CostResult } from '../../test/support/bypass/types.ts';
import type { Row } from '../harness/bench.ts';
import { median } from '../harness/median.ts';
import type { CostRecord, State } from './plan.ts';

export type Operation = keyof CostResult;

type Round = Extract<CostRecord, { kind: 'round' }>;

const named: Readonly<Record<State, string>> = {
  off: 'no agent, ns',
  on: 'agent',
  late: 'agent, with the check of every read',
  preempted: 'agent, with the checks for preemptible kernels',
  killing: 'agent that kills readers',
  floor: 'no-op programs, at the same busy hooks',
  'late-floor': 'the same with the check of every read',
};

/**
 * A row for each state: what an operation costs there against what it costs without an agent, as the median over the
 * rounds of the ratio of the least figures within a round. The row of no agent shows nanoseconds.
 */
export function ratioRows(records: readonly CostRecord[], operations: readonly Operation[]): Row[] {
  const rounds = records.filter((record): record is Round => record.kind === 'round');
  const bare = new Map(
    rounds.filter(({ state }) => state === 'off').map((each) => [each.round, each.figures]),
  );
  const states = [...new Set(rounds.map(({ state }) => state))];
  return states.toSorted(byOrder).map((state) => {
    const own = rounds.filter((each) => each.state === state);
    const cells = operations.map((operation) =>
      median(
        own.map(({ round, figures }) => {
          const cost = figures[operation].least;
          return state === 'off' ? cost : cost / (bare.get(round)?.[operation].least ?? Number.NaN);
        }),
      ),
    );
    return { name: named[state], cells };
  });
}

const order = Object.keys(named);
const byOrder = (one: State, other: State) => order.indexOf(one) - order.indexOf(other);
