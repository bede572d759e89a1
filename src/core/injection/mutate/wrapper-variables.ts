import type { EnvironmentVariable } from '../../kubernetes/pod.ts';
import type { InjectionPlan } from '../contract.ts';
import { tokenFolder } from './names.ts';
import { secretSettings } from './secret-variables.ts';
import { variable, vaultVariables } from './vault-variables.ts';

export interface WrapperFacts {
  readonly healthPort: number;
  /** Path of the node agent's socket, where the wrapper registers. */
  readonly agentSocket: string | undefined;
  readonly ownToken: boolean;
}

/** The variables that the operator sets in a wrapped container and that the container cannot set otherwise. */
export function wrapperVariables(plan: InjectionPlan, facts: WrapperFacts): readonly EnvironmentVariable[] {
  const { paths, envMap } = secretSettings(plan.secrets);
  const { healthPort, agentSocket, ownToken } = facts;
  return [
    ...vaultVariables(plan, plan.vault.role),
    ...variable('SVC_SECRET_PATHS', paths),
    ...variable('SVC_ENV_MAP', envMap),
    ...variable('SVC_ENV_MAP_ONLY', plan.envMapOnly === undefined ? undefined : String(plan.envMapOnly)),
    ...variable('SVC_ROTATION', plan.rotation),
    ...variable('RENEWAL_INTERVAL', plan.renewalInterval),
    ...variable('SVC_DELIVERY', plan.delivery),
    ...variable('HEALTH_ADDR', `:${healthPort}`),
    ...variable('SVC_EBPF_AGENT_ADDR', agentSocket && `unix://${agentSocket}`),
    ...variable('SVC_SA_TOKEN_PATH', ownToken ? `${tokenFolder}/token` : undefined),
    { name: 'SVC_POD_UID', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.uid' } } },
  ];
}
