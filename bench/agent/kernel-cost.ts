import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mapEntries } from '../../src/plugins/agent/bpf/map.ts';
import type { BpfObject } from '../../src/plugins/agent/bpf/object.ts';
import { mapFolder } from '../../src/plugins/agent/guard/program-set.ts';
import { startAgentSession } from '../../test/plugins/agent/bypass/driver/agent-session.ts';
import type { Place } from '../../test/plugins/agent/bypass/driver/place.ts';
import { type CostMeter, startCostMeter } from '../../test/support/bypass/load.ts';
import type { CostPlan, CostRecord, State } from './plan.ts';
import { loadStates, type States } from './states.ts';

/**
 * Has the real agent cover a herd below a registrar, ends it, and lets the states of its programs take turns on the
 * maps that it has filled.
 */
export async function measureKernelCost(plan: CostPlan, write: (record: CostRecord) => void): Promise<void> {
  const folder = join(plan.machine.bpf, 'svc');
  const agent = await startAgentSession(plan.machine, folder, {
    tiers: [plan.tier],
    enforce: true,
    kill: false,
  });
  if (agent.facts.tier !== plan.tier) throw new Error(`The agent is on tier ${agent.facts.tier}`);
  const place = await agent.place();
  const pid = await growHerd(place, plan);
  const states = loadStates(plan, mapFolder(folder));
  await agent.close();
  write({ kind: 'facts', ...factsOf(states.object) });
  const meter = await startCostMeter(plan.machine.bypass, [...plan.meter, '--pid', String(pid)]);
  await takeTurns(plan.rounds, states, meter, write);
  await meter.end();
  states.close();
  await place.end();
}

/** @returns one of the herd */
async function growHerd(place: Place, { machine, herd }: CostPlan): Promise<number> {
  const refused = await place.protect();
  if (refused !== undefined) throw new Error(`The registrar was refused: ${refused.message}`);
  const parent = await place.start(machine.bypass, ['herd', '--wait', '--count', String(herd)]);
  await parent.next();
  parent.send('');
  const { pids } = await parent.next<{ pids: number[] }>();
  return pids[0] as number;
}

function factsOf(object: BpfObject) {
  const names = ['processes', 'cgroups', 'opened', 'reported', 'settings', 'tallies', 'hits'];
  return {
    kernel: readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim(),
    covered: mapEntries(object.map('processes')).length,
    maps: Object.fromEntries(names.map((name) => [name, memoryOf(object.map(name).descriptor)])),
  };
}

function memoryOf(descriptor: number): number {
  const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
  return Number(/^memlock:\s+(\d+)/m.exec(text)?.[1]);
}

/** A round is no agent beside one other state, now the one first and now the other: slow moments meet both alike. */
async function takeTurns(
  rounds: number,
  states: States,
  meter: CostMeter,
  write: (record: CostRecord) => void,
): Promise<void> {
  const others = states.names.filter((name) => name !== 'off');
  for (let round = 0; round < rounds * others.length; round++) {
    const other = others[round % others.length] ?? 'off';
    const pair: State[] = Math.floor(round / others.length) % 2 === 0 ? ['off', other] : [other, 'off'];
    for (const state of pair) {
      states.enter(state);
      write({ kind: 'round', round, state, figures: await meter.measure() });
    }
  }
}
