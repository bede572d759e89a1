import type { Check } from '../../contract.ts';
import { judgeAgents } from './told.ts';

export const losses: Check = {
  ...{ id: 'SVC-AGENT-004', area: 'agent', level: 'warning', needs: 'cluster', timeoutMs: 60_000 },
  title: 'The tables of the agents have had room for everything',
  cause: 'More processes were protected, or more attempts were made, than the tables in the kernel hold.',
  fix: 'Spread protected pods over more nodes, and look for an attack: svc_agent_lost_total says what was lost.',
  run: (context) =>
    judgeAgents(context, ({ lost }) =>
      lost > 0 ? { message: `${lost} entries found no room since the agent started.` } : undefined,
    ),
};
