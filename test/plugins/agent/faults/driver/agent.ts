import { setTimeout as sleep } from 'node:timers/promises';
import { launchReady } from '../../../../support/child.ts';
import { cleanEnv } from '../../../../support/clean-env.ts';
import { startUpLine } from '../../../../support/component.ts';
import { type LogLine, logLines } from '../../../../support/log-lines.ts';
import type { AgentMode, Machine } from './machine.ts';

/** An agent from its start to its end. */
export interface Agent {
  readonly pid: number;
  /** When it was started, in milliseconds since 1970. */
  readonly since: number;
  /** The start-up line. */
  readonly listening: LogLine;
  lines(event: string): LogLine[];
  output(): string;
  metrics(): Promise<string>;
  /** Status and body of its `/readyz` or `/healthz`. */
  probe(path: string): Promise<{ status: number; body: Record<string, unknown> }>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** @throws Error with what it wrote when it ends before it listens */
export async function startAgent(
  machine: Machine,
  socket: string,
  mode: AgentMode,
  hear: (text: string) => void,
): Promise<Agent> {
  const since = Date.now();
  const env = cleanEnv({ ...environment(machine, mode), SVC_AGENT_SOCKET: socket });
  const { child, found: listening } = await launchReady(
    'the agent',
    machine.agent,
    { env, onOutput: hear },
    (child) => startUpLine(child.logs()),
  );
  const get = (path: string) => fetch(`http://${listening['health']}${path}`);
  return {
    ...{ pid: child.pid, since, listening },
    lines: (event) => logLines(child.logs(), event),
    output: child.logs,
    metrics: async () => (await get('/metrics')).text(),
    async probe(path) {
      const answer = await get(path);
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    },
    kill: async (signal) => void (await child.end(signal)),
  };
}

function environment({ bpf }: Machine, { tiers, kill, env }: AgentMode): Record<string, string> {
  return {
    SVC_AGENT_HEALTH: '127.0.0.1:0',
    SVC_AGENT_BPF_FOLDER: bpf,
    ...(tiers === undefined ? {} : { SVC_AGENT_TIERS: tiers.join(',') }),
    ...(kill === undefined ? {} : { SVC_AGENT_REACTIVE_KILL: String(kill) }),
    ...env,
  };
}

/** A sample of `/metrics`; 0 where it is not there. */
export async function metric(agent: Agent, name: string): Promise<number> {
  const line = (await agent.metrics()).split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? 0 : Number(line.slice(name.length));
}

export const whileAway = (): Promise<void> => sleep(1_000);
