import { attempt } from './attempts.ts';
import type { Bench } from './bench.ts';
import type { AgentMode } from './machine.ts';

export interface FallbackRecord {
  readonly tier: string;
  readonly notHigher: string | undefined;
  /** From the first line of the log to the one with the tier, and to the start-up line. */
  readonly decidedMs: number;
  readonly listeningMs: number;
  readonly ready: { readonly status: number; readonly body: Readonly<Record<string, unknown>> };
  readonly healthy: number;
  readonly tierMetric: readonly string[];
  /** What one attempt on a process that registered came to. */
  readonly attack: string;
}

/** Which tier this machine gives, how long it takes, and who is told. */
export async function fallback(bench: Bench, mode: AgentMode): Promise<FallbackRecord> {
  const agent = await bench.start(mode);
  const { facts } = await bench.covered();
  const [first] = agent.output().split('\n');
  const began = Date.parse(JSON.parse(first ?? '').time);
  const decided = agent.lines('guard.tier')[0];
  const metrics = await agent.metrics();
  return {
    tier: String(agent.listening['tier']),
    notHigher: agent.listening['not_higher'],
    decidedMs: decided === undefined ? -1 : Date.parse(decided.time) - began,
    listeningMs: Date.parse(agent.listening.time) - agent.since,
    ready: await agent.probe('/readyz'),
    healthy: (await agent.probe('/healthz')).status,
    tierMetric: metrics.split('\n').filter((line) => /^svc_agent_tier\{.* 1$/.test(line)),
    attack: await attempt(bench.machine, facts),
  };
}
