import { agentChecks } from './areas/agent/index.ts';
import { clusterChecks } from './areas/cluster/index.ts';
import { configurationChecks } from './areas/configuration/index.ts';
import { fromClusterChecks } from './areas/connectivity/from-cluster/index.ts';
import { fromHereChecks } from './areas/connectivity/from-here/index.ts';
import { egressChecks } from './areas/egress/index.ts';
import { hostChecks } from './areas/host/index.ts';
import { kekChecks } from './areas/kek/index.ts';
import { operatorChecks } from './areas/operator/index.ts';
import { proxyStoreChecks } from './areas/proxy-store/index.ts';
import { secretsServerChecks } from './areas/secrets-server/index.ts';
import type { Check } from './contract.ts';

/** Every check there is, in the order in which they are shown. */
export const checks: readonly Check[] = [
  ...configurationChecks,
  ...secretsServerChecks,
  ...kekChecks,
  ...clusterChecks,
  ...fromClusterChecks,
  ...fromHereChecks,
  ...operatorChecks,
  ...agentChecks,
  ...egressChecks,
  ...proxyStoreChecks,
  ...hostChecks,
];
