import type { ResolvedOperatorSettings } from './settings.ts';
import type { Operator } from './start-operator-channel.ts';

/** The operator that settings name which `operatorRules` find no fault with. */
export function operatorOf(settings: ResolvedOperatorSettings): Operator {
  const { operatorAddr, operatorTlsCert, operatorTlsKey, operatorTlsCa, operatorToken } = settings;
  if (operatorAddr === undefined) return {};
  const [certPath, keyPath, caPath] = [operatorTlsCert, operatorTlsKey, operatorTlsCa];
  if (certPath === undefined || keyPath === undefined || caPath === undefined)
    throw new RangeError('an operator without the three TLS files');
  return { address: operatorAddr, tls: { certPath, keyPath, caPath }, tokenPath: operatorToken };
}
