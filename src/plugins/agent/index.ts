import type { Component } from '../../runtime/component/contract.ts';
import { checkAgent } from './rules.ts';
import { type AgentSettings, agentSettings } from './settings.ts';
import { startAgent } from './start.ts';

/** The node agent. */
export const agent: Component<AgentSettings> = {
  name: 'agent',
  settings: agentSettings,
  check: checkAgent,
  start: startAgent,
};
