import { join } from 'node:path';
import { unpinAll } from '../../../../../src/plugins/agent/guard/program-set.ts';
import { launchReady } from '../../../../support/child.ts';
import { cleanEnv } from '../../../../support/clean-env.ts';
import type { LogLine } from '../../../../support/log-lines.ts';
import { temporaryFolder } from '../../../../support/temporary.ts';
import { accessEventCounts } from './access-event-counts.ts';
import type { AgentMode, Machine } from './plan.ts';
import type { AccessEventLine } from './records.ts';
import { startRegistrar } from './registrar-place.ts';
import type { Session } from './session.ts';

/** The built agent, with registrars that register with it. */
export interface AgentSession extends Session {
  readonly socket: string;
}

export async function startAgentSession(
  machine: Machine,
  folder: string,
  mode: AgentMode,
): Promise<AgentSession> {
  const home = temporaryFolder('agent');
  const socket = join(home.path, 'agent.sock');
  const lines: LogLine[] = [];
  const { child: agent, found: listening } = await launchReady(
    'the agent',
    [process.execPath, ...process.execArgv, machine.svc, 'run', 'agent'],
    {
      env: cleanEnv({ ...environment(mode), SVC_AGENT_SOCKET: socket, SVC_AGENT_BPF_FOLDER: folder }),
      onOutput: lineReader(lines),
    },
    () => lines.find(({ event }) => event === 'listening'),
    longestStartMs,
  );
  return {
    socket,
    facts: { tier: Number(listening['tier']), enforcing: listening['enforcing'] === 'true' },
    kills: mode.enforce && mode.kill,
    get hits() {
      return lines.filter(({ event }) => /^hit\./.test(event)).map(accessEventLine);
    },
    place: () => startRegistrar(machine.registrar, socket),
    counted: () => accessEventCounts(String(listening['health'])),
    held: () => lines.filter(({ event }) => event === 'hits.more').length,
    async close() {
      await agent.end();
      unpinAll(folder);
      await home.remove();
    },
  };
}

function environment({ tiers, enforce, kill }: AgentMode): Record<string, string> {
  return {
    SVC_AGENT_HEALTH: '127.0.0.1:0',
    SVC_AGENT_ENFORCE: String(enforce),
    SVC_AGENT_REACTIVE_KILL: String(kill),
    ...(tiers === undefined ? {} : { SVC_AGENT_TIERS: tiers.join(',') }),
  };
}

function lineReader(lines: LogLine[]): (text: string) => void {
  let rest = '';
  return (text) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const part of parts) if (part.startsWith('{')) lines.push(JSON.parse(part));
  };
}

/** On a busy host an emulated machine attaches the programs of a tier in a minute. */
const longestStartMs = 180_000;

function accessEventLine({ road, outcome, syscall, ...line }: LogLine): AccessEventLine {
  const { source_pid: sourcePid, source_comm: sourceComm, target_pid: targetPid } = line;
  return { road, outcome, syscall, sourcePid, sourceComm, ...(targetPid === undefined ? {} : { targetPid }) };
}
