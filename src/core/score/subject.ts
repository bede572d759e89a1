import type { Container, Pod } from '../kubernetes/pod.ts';
import { applicationContainers, asksForWrapper, isWrapped } from './containers.ts';
import type { AgentProtection, PodProtection, WorkloadFacts } from './contract.ts';

/** One pod, running or yet to be made, as the rules look at it. */
export interface Subject {
  readonly pod: Pod;
  /** It exists; otherwise it is what pods will be made from, before the webhook has seen them. */
  readonly exists: boolean;
  /** Containers of the application: neither sidecars of a mesh nor our proxy. */
  readonly applications: readonly Container[];
  /** Those of them that start under the wrapper. */
  readonly wrapped: readonly Container[];
  readonly agent: AgentProtection | undefined;
  readonly reports: PodProtection['reports'];
  readonly egressPolicy: boolean | undefined;
  readonly wideningPolicies: readonly string[];
}

type Egress = Pick<Subject, 'egressPolicy' | 'wideningPolicies'>;

/** Its pods, or its template where it has none now. */
export function subjectsOf(facts: WorkloadFacts): readonly Subject[] {
  const { pods, template, egressPolicy, wideningPolicies = [] } = facts;
  const egress = { egressPolicy, wideningPolicies };
  if (pods.length > 0) return pods.map((one) => running(one, egress));
  return template === undefined ? [] : [planned(template, egress)];
}

function running({ pod, agent, reports }: PodProtection, egress: Egress): Subject {
  const applications = applicationContainers(pod);
  const wrapped = applications.filter((container) => isWrapped(container, pod));
  return { pod, exists: true, applications, wrapped, agent, reports, ...egress };
}

/** The webhook lets no pod start that asks for the wrapper and does not get it. */
function planned(pod: Pod, egress: Egress): Subject {
  const applications = applicationContainers(pod);
  const wrapped = asksForWrapper(pod) ? applications : [];
  return { pod, exists: false, applications, wrapped, agent: undefined, reports: [], ...egress };
}
