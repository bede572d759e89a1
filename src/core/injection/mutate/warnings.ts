import { credentialServers, credentialSource } from '../../egress/credential-source.ts';
import type { Container, Pod } from '../../kubernetes/pod.ts';
import type { InjectionPlan, Surroundings } from '../contract.ts';
import { unlockable } from './memory-lock.ts';
import { leavesCommandToImage } from './original-command.ts';
import { cloudIdentity } from './proxy-identity.ts';
import { proxyIsSidecar } from './proxy-place.ts';
import { isWrapped } from './wrapped.ts';

/** What is done otherwise than one might expect, or protects less than it could; a sentence each. */
export function warningsFor(
  pod: Pod,
  plan: InjectionPlan,
  surroundings: Surroundings,
  chosen: readonly Container[],
): string[] {
  return [
    ...memoryWarnings(pod, surroundings, chosen),
    ...(plan.vault.skipVerify
      ? ['The certificate of the secrets server is not verified, for development only.']
      : []),
    ...(pod.spec.hostPID
      ? ['hostPID: processes of the node see those of this pod, and the other way round.']
      : []),
    ...(idleCommand(plan, chosen) ? ['svc/command is not used: the pod says what its containers run.'] : []),
    ...proxyWarnings(plan, chosen),
    ...(endlessProxy(pod, plan, surroundings)
      ? ['The pod will not complete while the proxy runs: sidecars that end with it need Kubernetes 1.29.']
      : []),
  ];
}

function memoryWarnings(pod: Pod, surroundings: Surroundings, chosen: readonly Container[]): string[] {
  return chosen.flatMap((container) => {
    const reason = unlockable(pod, container, surroundings);
    return reason === undefined
      ? []
      : [
          `container ${container.name}: its memory is not locked as a whole and it does not register with the node agent, because ${reason}.`,
        ];
  });
}

const idleCommand = ({ command }: InjectionPlan, chosen: readonly Container[]): boolean =>
  command !== undefined && !chosen.some((one) => leavesCommandToImage(one) || isWrapped(one));

const endlessProxy = (pod: Pod, { proxy }: InjectionPlan, surroundings: Surroundings): boolean =>
  proxy?.enabled === true &&
  !proxyIsSidecar(pod, surroundings) &&
  ['Never', 'OnFailure'].includes(pod.spec.restartPolicy ?? 'Always');

/** Where the proxy has to ask for credentials although no egress policy lets it unless somebody says so. */
function proxyWarnings({ proxy }: InjectionPlan, chosen: readonly Container[]): string[] {
  if (!proxy?.enabled || proxy.credentialsSecret !== undefined) return [];
  const { variables } = cloudIdentity(chosen, true);
  const source = credentialSource(new Set(variables.map(({ name }) => name)));
  if (source === 'given' || source === 'role') return [];
  const { name, address, port } = credentialServers[source];
  return [
    `svc-proxy: asks ${name} for credentials, which egress policies do not allow unless spec.egress of a ServiceConfig names ${address}/32 port ${port}.`,
  ];
}
