import type { Rule } from '../../../core/settings/rules.ts';
import { operatorSettings, type ResolvedOperatorSettings } from './settings.ts';

type TlsFile = 'operatorTlsCert' | 'operatorTlsKey' | 'operatorTlsCa';
type File = TlsFile | 'operatorToken';

const tlsFiles: readonly TlsFile[] = ['operatorTlsCert', 'operatorTlsKey', 'operatorTlsCa'];

/**
 * An operator is spoken to over mutual TLS or not at all; a token is for certificates that do not name the node. The files
 * themselves are not looked at: their secret may be mounted before the operator has filled it.
 */
export const operatorRules: readonly Rule<ResolvedOperatorSettings>[] = [
  ...tlsFiles.map(required),
  ...[...tlsFiles, 'operatorToken' as const].map(withoutAddress),
];

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
