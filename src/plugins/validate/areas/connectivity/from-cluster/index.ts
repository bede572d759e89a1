import type { Check } from '../../../contract.ts';
import { agentsToOperator } from './agents-to-operator.ts';
import { operatorToApiServer } from './operator-to-api-server.ts';
import { operatorToRegistries } from './operator-to-registries.ts';
import { podsToSecretsServer } from './pods-to-secrets-server.ts';
import { proxiesToSecretsServer } from './proxies-to-secrets-server.ts';
import { proxiesToStore } from './proxies-to-store.ts';

/** Each row of what the specification says has to be reached, by what the parts tell of themselves. */
export const fromClusterChecks: readonly Check[] = [
  ...[podsToSecretsServer, operatorToApiServer, operatorToRegistries],
  ...[proxiesToStore, proxiesToSecretsServer, agentsToOperator],
];
