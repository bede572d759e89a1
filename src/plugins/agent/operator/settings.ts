import { type ListenAddress, listenAddress } from '../../../core/settings/listen-address.ts';
import { mistake, type Parser, path } from '../../../core/settings/parsers.ts';
import type { Resolved, Settings } from '../../../core/settings/setting.ts';
import type { OperatorAddress } from './contract.ts';

const expects = 'host:port such as svc-operator.svc-system.svc:8199, 10.0.0.1:8199 or [fd00::1]:8199';

/** Where the operator is and how the agent shows who it is; without an address the agent works alone. */
export const operatorSettings = {
  operatorAddr: {
    variable: 'SVC_OPERATOR_ADDR',
    flag: 'operator-address',
    summary: 'Operator to report to over mutual TLS; without it the agent works alone',
    ...operatorAddress(),
  },
  operatorTlsCert: {
    variable: 'SVC_OPERATOR_TLS_CERT',
    flag: 'operator-cert',
    summary: 'PEM file with the certificate of the agent, for the operator',
    ...path('a PEM file'),
  },
  operatorTlsKey: {
    variable: 'SVC_OPERATOR_TLS_KEY',
    flag: 'operator-key',
    summary: 'PEM file with its private key',
    ...path('a PEM file'),
  },
  operatorTlsCa: {
    variable: 'SVC_OPERATOR_TLS_CA',
    flag: 'operator-ca',
    summary: 'PEM file with the authorities that the certificate of the operator may come from',
    ...path('a PEM file'),
  },
  operatorToken: {
    variable: 'SVC_OPERATOR_TOKEN_FILE',
    flag: 'operator-token',
    summary: 'File with a service-account token of this pod, which shows the operator the node; read again',
    ...path('a file'),
  },
} satisfies Settings;

export type ResolvedOperatorSettings = Resolved<typeof operatorSettings>;

/** Where the operator is: a host that can be connected to, and its port. */
function operatorAddress(): Parser<OperatorAddress> {
  return { expects, parse };
}

function parse(text: string): OperatorAddress {
  const { host, port } = addressIn(text);
  return host === undefined || port === 0 ? mistake(expects) : { host, port };
}

function addressIn(text: string): ListenAddress {
  try {
    return listenAddress().parse(text);
  } catch {
    return mistake(expects);
  }
}
