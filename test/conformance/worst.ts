import { formatTable } from '../../bench/harness/table.ts';
import type { Part, PartOptions, Report } from './part.ts';
import { Random } from './soak/random.ts';
import { inMib } from './support/figures.ts';
import type { Target } from './worst/input.ts';
import { type Measured, measure, measureMixed } from './worst/measure.ts';
import { createProber, type Prober } from './worst/prober.ts';
import { agentTargets } from './worst/targets/agent.ts';
import { operatorTargets } from './worst/targets/operator.ts';
import { proxyTargets } from './worst/targets/proxy.ts';

/** Of `/healthz`, without the time that the machine lets it wait for a processor. */
const longestAnswerMs = 1_000;
/** What a quiet machine should not exceed; shown, not judged. */
const aimMs = 250;
const atOnce = 16;

const targets = [...proxyTargets, ...operatorTargets, ...agentTargets];

/** Complete inputs of the worst kind, alone, many at once and mixed, to each component in a cgroup of its shipped limit. */
export const worst: Part = {
  name: 'worst',
  summary:
    'the worst complete inputs of callers, stores, servers and pods: no kill, `/healthz` within a second',
  async run(report, options) {
    const { only = [] } = options;
    const isNamed = (name: string) => only.some((part) => name.includes(part));
    const named = targets.filter(({ name }) => isNamed(name));
    const ofInputs = only.filter((part) => !targets.some(({ name }) => name.includes(part)));
    const isWanted = (name: string) => ofInputs.length === 0 || ofInputs.some((part) => name.includes(part));
    for (const { name, start } of named.length > 0 ? named : targets) {
      report.say(name);
      const target = await start();
      const prober = createProber();
      try {
        await runTarget(report, target, prober, options, isWanted);
      } finally {
        await prober.close();
        await target.stop();
      }
    }
  },
};

async function runTarget(
  report: Report,
  target: Target,
  prober: Prober,
  { minutes, seed }: PartOptions,
  isWanted: (name: string) => boolean,
): Promise<void> {
  const inputs = target.inputs.filter(({ name }) => isWanted(name));
  if (inputs.length === 0) return;
  const all: Measured[] = [];
  for (const input of inputs) {
    await input.prepare?.();
    for (const count of new Set([
      input.atOnce === undefined || input.atOnce < 500 ? 1 : 0,
      input.atOnce ?? atOnce,
    ])) {
      if (count === 0) continue;
      const one = await measure(target, prober, input, count);
      all.push(one);
      judge(report, target, one);
    }
  }
  const random = new Random(`worst ${seed}`);
  const mixture = {
    inputs,
    choose: (count: number) => random.below(count),
    lastsMs: minutes * 60_000,
    atOnce,
  };
  const mixed = await measureMixed(target, prober, mixture);
  all.push(mixed);
  judge(report, target, mixed);
  report.say(formatTable({ title: target.name, columns, rows: all.map(rowOf) }));
}

function judge(report: Report, target: Target, one: Measured): void {
  const { name, count, probes, wrong, ended, kills } = one;
  const late = probes.worstOwnMs > longestAnswerMs;
  const faults = [
    ...(kills > 0 ? ['killed for want of memory'] : ended ? ['ended'] : []),
    ...(late ? [`/healthz after ${probes.worstOwnMs.toFixed(0)} ms`] : []),
    ...wrong,
  ];
  const detail = [shownOutcomes(one), `peak ${inMib(one.peak)}`, ...faults].join('; ');
  report.check(`${target.name}: ${name} (${count})`, faults.length === 0, detail);
}

const columns = ['at once', 'outcomes', 'peak', 'kills', 'longest pause ms', '/healthz ms', 's'];

function rowOf(one: Measured) {
  const { name, count, peak, kills, probes, seconds } = one;
  const pause = `${probes.worstOwnMs.toFixed(0)}${probes.worstOwnMs > aimMs ? ' !' : ''}`;
  const cells = [
    count,
    shownOutcomes(one),
    inMib(peak),
    kills,
    pause,
    probes.worstMs.toFixed(0),
    seconds.toFixed(1),
  ];
  return { name, cells };
}

const shownOutcomes = ({ outcomes }: Measured): string =>
  [...outcomes].map(([outcome, count]) => (count === 1 ? outcome : `${outcome} × ${count}`)).join(', ');
