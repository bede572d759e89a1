import { applyRules, type Rule } from '../../core/settings/resolve.ts';
import { type AgentConfig, operatorSettings, type ResolvedOperatorSettings } from './settings.ts';

const tlsFiles: readonly TlsFile[] = ['operatorTlsCert', 'operatorTlsKey', 'operatorTlsCa'];

/**
 * An operator is spoken to over mutual TLS or not at all; a token is for certificates that do not name the node. The files
 * themselves are not looked at: their secret may be mounted before the operator has filled it.
 */
export const operatorRules: readonly Rule<ResolvedOperatorSettings>[] = [
  ...tlsFiles.map(required),
  ...[...tlsFiles, 'operatorToken' as const].map(withoutAddress),
];

const rules: readonly Rule<AgentConfig>[] = [
  ({ enforce, requireEnforcement }) =>
    requireEnforcement && !enforce
      ? 'SVC_AGENT_REQUIRE_ENFORCEMENT: cannot be, because SVC_AGENT_ENFORCE is false'
      : undefined,
  ...operatorRules,
];

export const checkAgent = (config: AgentConfig): readonly string[] => applyRules(config, rules);

type TlsFile = 'operatorTlsCert' | 'operatorTlsKey' | 'operatorTlsCa';
type File = TlsFile | 'operatorToken';

function required(file: TlsFile): Rule<ResolvedOperatorSettings> {
  return (config) =>
    config.operatorAddr !== undefined && config[file] === undefined
      ? `${operatorSettings[file].variable}: required, because SVC_OPERATOR_ADDR is set`
      : undefined;
}

function withoutAddress(file: File): Rule<ResolvedOperatorSettings> {
  return (config) =>
    config.operatorAddr === undefined && config[file] !== undefined
      ? `${operatorSettings[file].variable}: of no use, because SVC_OPERATOR_ADDR is not set`
      : undefined;
}
