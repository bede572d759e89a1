import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CostRecord, State } from '../../../bench/agent/plan.ts';
import { ratioRows } from '../../../bench/agent/ratios.ts';

const test = suite('ratios of the states of the agent');

const figure = (median: number) => ({ median, least: median });

function round(number: number, state: State, open: number): CostRecord {
  const others = {
    openCloseProc: 1,
    openCloseStatus: 1,
    readByte: 1,
    readPage: 1,
    readProc: 1,
    call: 1,
    forkExec: 1,
  };
  const rest = Object.fromEntries(Object.entries(others).map(([name, cost]) => [name, figure(cost)]));
  return { kind: 'round', round: number, state, figures: { ...rest, openClose: figure(open) } as never };
}

test('are taken within a round, so that a slow moment cancels', () => {
  const records = [
    ...[round(0, 'on', 110), round(0, 'off', 100)],
    ...[round(1, 'off', 1_000), round(1, 'on', 1_050)],
    ...[round(2, 'on', 240), round(2, 'off', 200)],
  ];
  assert.equal(ratioRows(records, ['openClose', 'call']), [
    { name: 'no agent, ns', cells: [200, 1] },
    { name: 'agent', cells: [1.1, 1] },
  ]);
});

test('leave out what is no measurement', () => {
  const facts: CostRecord = { kind: 'facts', kernel: '6.1', covered: 1, maps: {} };
  assert.equal(ratioRows([facts, round(0, 'off', 7)], ['openClose']), [{ name: 'no agent, ns', cells: [7] }]);
});

test.run();
