import { unencrypted } from '../../core/settings/listen-address.ts';
import { applyRules, type Rule } from '../../core/settings/resolve.ts';
import type { OperatorConfig } from './settings.ts';

const rules: readonly Rule<OperatorConfig>[] = [
  ({ vaultAddress }) => unencrypted('SVC_OPERATOR_VAULT_ADDR', vaultAddress),
  ({ agentSocket }) =>
    agentSocket !== undefined && !agentSocket.startsWith('/')
      ? 'SVC_OPERATOR_AGENT_SOCKET: must be an absolute path on the nodes, such as /run/svc/agent.sock'
      : undefined,
];

export const checkOperator = (config: OperatorConfig): readonly string[] => applyRules(config, rules);
