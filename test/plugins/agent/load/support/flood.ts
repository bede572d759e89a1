import { makeEvents } from '../../../../support/bypass/load.ts';
import { cpuOf } from '../../../../support/cpu-time.ts';
import { logLines } from '../../../../support/log-lines.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { sumOf } from './samples.ts';

export interface FloodedAgent {
  readonly pid: number;
  metrics(): Promise<string>;
  output(): string;
}

export interface FloodRecord {
  readonly attempts: number;
  /** What the agent had counted before. */
  readonly earlier: number;
  /** What the agent counted of them: the sum over `svc_agent_hits_total`. */
  readonly counted: number;
  /** The sum over `svc_agent_lost_total`. */
  readonly lost: number;
  readonly milliseconds: number;
  /** Of the agent, from the first hit until the last was counted. */
  readonly cpuMs: number;
  /** Lines of the log about single hits. */
  readonly hitLines: number;
  /** What other lines say of how many more there were. */
  readonly more: number;
}

export interface FloodOptions {
  readonly bypass: string;
  /** Whose environment is opened. */
  readonly pid: number;
  readonly perSecond: number;
  readonly seconds: number;
}

const settledWithinMs = 40_000;

/** So many attempts on a covered process, and what an agent that had seen none before makes of them. */
export async function flood(
  agent: FloodedAgent,
  { bypass, pid, perSecond, seconds }: FloodOptions,
): Promise<FloodRecord> {
  const [before, began] = [await countedBy(agent), cpuOf(agent.pid)];
  const { attempts, milliseconds } = await makeEvents(bypass, pid, perSecond, seconds);
  const counted = async () => (await countedBy(agent)) - before;
  const arrived = async () => (await counted()) >= attempts;
  await waitFor('all hits', arrived, { timeoutMs: settledWithinMs }).catch(() => false);
  // what is counted twice shows only after a while, and what was held back from the log at the end of the second
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const cpuMs = cpuOf(agent.pid) - began;
  const { counted: all, ...tally } = await tallyOf(agent);
  return { attempts, milliseconds, earlier: before, counted: all - before, cpuMs, ...tally };
}

/** What an agent says of all hits so far, in its metrics and its log. */
export async function tallyOf(
  agent: FloodedAgent,
): Promise<Pick<FloodRecord, 'counted' | 'lost' | 'hitLines' | 'more'>> {
  const metrics = await agent.metrics();
  const lines = logLines(agent.output());
  return {
    counted: sumOf(metrics, 'svc_agent_hits_total'),
    lost: sumOf(metrics, 'svc_agent_lost_total'),
    hitLines: lines.filter(({ event }) => /^hit\./.test(event)).length,
    more: lines
      .filter(({ event }) => event === 'hits.more')
      .reduce((sum, line) => sum + Number(line['more']), 0),
  };
}

const countedBy = async (agent: FloodedAgent) => sumOf(await agent.metrics(), 'svc_agent_hits_total');
