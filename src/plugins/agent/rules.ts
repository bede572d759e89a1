import { applyRules, type Rule } from '../../core/settings/rules.ts';
import { operatorRules } from './operator/rules.ts';
import type { AgentConfig } from './settings.ts';

const rules: readonly Rule<AgentConfig>[] = [
  ({ enforce, requireEnforcement }) =>
    requireEnforcement && !enforce
      ? 'SVC_AGENT_REQUIRE_ENFORCEMENT: cannot be, because SVC_AGENT_ENFORCE is false'
      : undefined,
  ...operatorRules,
];

export const checkAgent = (config: AgentConfig): readonly string[] => applyRules(config, rules);
