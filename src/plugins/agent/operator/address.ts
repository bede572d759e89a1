import { type ListenAddress, listenAddress } from '../../../core/settings/listen-address.ts';
import { mistake, type Parser } from '../../../core/settings/parsers.ts';
import type { OperatorAddress } from './contract.ts';

const expects = 'host:port such as svc-operator.svc-system.svc:8199, 10.0.0.1:8199 or [fd00::1]:8199';

/** Where the operator is: a host that can be connected to, and its port. */
export function operatorAddress(): Parser<OperatorAddress> {
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
