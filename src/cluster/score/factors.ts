import { tierNames } from '../../runtime/protocols/protection/report.ts';
import { isInjected } from '../injection/protected-pods.ts';
import { isLabelled } from '../kube/labels.ts';
import type { Container, Pod, Volume } from '../kube/pod.ts';
import type { Judgement, ScoreRule, Subject } from './contract.ts';
import { coreDumps, delivery, memoryLock, secretMemory } from './process-factors.ts';
import { settingOf, worstWrapper } from './wrapper-reports.ts';

const coveragePoints = 5;
const verificationPoints = 5;

const verificationRemedy = 'Set VAULT_SKIP_VERIFY to false, and set private CAs in the operator.';

/** The node's agent covers the pod's processes. */
const coverage: ScoreRule = { name: 'coverage', of: coveragePoints, judge: judgeCoverage };

/** The wrapper verifies the certificate of the secrets server. */
const verification: ScoreRule = {
  name: 'verification',
  of: verificationPoints,
  judge: (subject) =>
    worstWrapper(subject, { measured: () => undefined, configured: verificationByVariable }),
};

const wrapperPoints = 20;

const noneWrapped = {
  points: 0,
  because: 'No container starts under the wrapper.',
  remedy: 'Set svc/inject on the pods or select them by a ServiceConfig, and recreate them.',
};

const allWrapped = (exists: boolean): string =>
  exists ? 'Every container starts under the wrapper.' : 'The webhook adds the wrapper to each pod.';

/** Every container of the application starts under the wrapper; at most half the points if only some do. */
const wrapper: ScoreRule = { name: 'wrapper', of: wrapperPoints, judge: judgeWrapper };

const enforcementPoints = 20;

const seeCoverage = 'See coverage: the agent has to know the pod first.';
const kernelRemedy = 'Use nodes whose kernel has bpf in its LSM list, or BTF.';

/** How the node agent reacts to attempts on the pod's processes; no points if it does not know the pod. */
const enforcement: ScoreRule = { name: 'enforcement', of: enforcementPoints, judge: judgeEnforcement };

const egressPoints = 10;

const egressRemedy = 'Let the operator apply the egress policy, or apply the output of svc netpol.';

const onHost: Judgement = {
  points: 0,
  because: "Policies do not apply to the node's network, which the pod uses.",
  remedy: 'Run the pod without hostNetwork.',
};
const startAnew = 'Protect the pod and recreate it: it gets the label then.';

/** Policies add up: anything that one of them allows is allowed. */
const widened = (names: readonly string[]): Judgement => ({
  points: 0,
  because: `Other policies let the pod reach more: ${names.join(', ')}.`,
  remedy: 'Name what the pod needs in ServiceConfig.spec.egress, and narrow these policies.',
});

/** The namespace's egress policy exists and selects the pod. */
const egress: ScoreRule = { name: 'egress', of: egressPoints, judge: judgeEgress };

const referencesPoints = 10;

const referencesUnknown: Judgement = {
  points: 0,
  because: 'How the pod gets its secrets is not known.',
  remedy: 'Protect the pod first.',
};

const secretNamed = (name: string | undefined): string => `Secret ${name ?? '?'}`;

/** No secret reaches the pod through Kubernetes Secrets. */
const references: ScoreRule = { name: 'references', of: referencesPoints, judge: judgeReferences };

/** All parts of a score in display order; their `of` sum to 100. */
export const rules: readonly ScoreRule[] = [
  wrapper,
  delivery,
  memoryLock,
  secretMemory,
  coreDumps,
  enforcement,
  coverage,
  egress,
  references,
  verification,
];

function judgeCoverage({ agent }: Subject): Judgement {
  if (agent === undefined) {
    return {
      points: 0,
      because: 'No node agent reports on this pod.',
      remedy: 'Run the node agent on the node of the pod.',
    };
  }
  if (agent.covered) return { points: coveragePoints, because: "The node agent covers the pod's processes." };
  if (agent.uncoveredReason) {
    const because = `The node agent does not cover this pod: ${agent.uncoveredReason}`;
    return { points: 0, because, remedy: "Check the agent's log and /readyz on this node." };
  }
  return {
    points: 0,
    because: 'The node agent does not cover this pod.',
    remedy: 'Protect the pod, so that it is labelled or registers itself.',
  };
}

const verifies: Judgement = {
  points: verificationPoints,
  because: 'The certificate of the secrets server is verified.',
};

function verificationByVariable(container: Container): Judgement {
  const setting = settingOf(container, 'VAULT_SKIP_VERIFY');
  if (setting.known && (setting.value ?? 'false') === 'false') return verifies;
  const state = setting.known ? 'is not verified' : 'may not be verified';
  return {
    points: 0,
    because: `The certificate of the secrets server ${state}.`,
    remedy: verificationRemedy,
  };
}

function judgeEgress({ pod, exists, wrapped, egressPolicy, wideningPolicies }: Subject): Judgement {
  if (egressPolicy === undefined)
    return { points: 0, because: 'It is not known if egress is limited.', remedy: egressRemedy };
  if (!egressPolicy)
    return { points: 0, because: 'The namespace has no egress policy.', remedy: egressRemedy };
  if (pod.spec.hostNetwork === true) return onHost;
  const labelled = exists ? isLabelled(pod.metadata.labels) : wrapped.length > 0;
  if (!labelled)
    return { points: 0, because: 'The egress policy does not select this pod.', remedy: startAnew };
  if (wideningPolicies.length > 0) return widened(wideningPolicies);
  return { points: egressPoints, because: 'Egress is limited to what the pod needs.' };
}

function judgeEnforcement({ agent }: Subject): Judgement {
  if (agent === undefined) {
    return {
      points: 0,
      because: 'No node agent reports its tier.',
      remedy: 'Run the node agent on the node of the pod.',
    };
  }
  if (!agent.covered)
    return { points: 0, because: 'The agent does not guard this pod.', remedy: seeCoverage };
  if (agent.tier === 1 || agent.tier === 2) return byHook(tierNames[agent.tier], agent.enforcing);
  if (agent.tier === 3) return byTracepoint(agent.enforcing);
  return { points: 0, because: 'The agent could load nothing into the kernel.', remedy: kernelRemedy };
}

function byHook(tier: string, enforcing: boolean): Judgement {
  if (enforcing)
    return { points: enforcementPoints, because: `Reads by other processes are denied (${tier}).` };
  return {
    points: 4,
    because: `Reads by other processes are seen and not denied (${tier}).`,
    remedy: 'Enable enforcement in the agent (enforceMode).',
  };
}

function byTracepoint(enforcing: boolean): Judgement {
  if (enforcing) {
    const because = 'Readers are killed, perhaps after a first read (tracepoint).';
    return { points: 12, because, remedy: kernelRemedy };
  }
  return {
    points: 3,
    because: 'Reads by other processes are seen and not stopped (tracepoint).',
    remedy: `${kernelRemedy} Or kill readers (reactiveKill).`,
  };
}

function judgeReferences({ pod, wrapped }: Subject): Judgement {
  if (wrapped.length === 0) return referencesUnknown;
  const count = secretReferences(pod).length;
  if (count === 0) return { points: referencesPoints, because: 'The pod refers to no Kubernetes Secret.' };
  return {
    points: count === 1 ? referencesPoints / 2 : 0,
    because: `The pod refers to Kubernetes Secrets in ${count} ${count === 1 ? 'place' : 'places'}.`,
    remedy: 'Move these secrets to the secrets server, and name them in svc/secret-paths.',
  };
}

/**
 * Places where a pod gets contents of Kubernetes Secrets, a phrase each: variables, all keys as variables, volumes.
 * Credentials for pulling images stay with the kubelet, and those of the store with the proxy, so they do not count.
 */
export function secretReferences({ spec }: Pod): readonly string[] {
  const { containers, initContainers = [], ephemeralContainers = [], volumes = [] } = spec;
  const all = [...initContainers, ...containers, ...ephemeralContainers];
  return [
    ...all.filter((container) => !isInjected(container)).flatMap(ofContainer),
    ...volumes.flatMap(ofVolume),
  ];
}

function ofContainer({ name, env = [], envFrom = [] }: Container): string[] {
  const single = env.flatMap(({ name: variable, valueFrom }) =>
    valueFrom?.secretKeyRef === undefined
      ? []
      : [`variable ${variable} of container ${name} (${secretNamed(valueFrom.secretKeyRef.name)})`],
  );
  const whole = envFrom.flatMap(({ secretRef }) =>
    secretRef === undefined ? [] : [`variables of container ${name} (${secretNamed(secretRef.name)})`],
  );
  return [...single, ...whole];
}

function ofVolume({ name, secret, projected }: Volume): string[] {
  const own = secret === undefined ? [] : [secret.secretName];
  const sources = (projected?.sources ?? []) as readonly { readonly secret?: { readonly name?: string } }[];
  const inside = sources.flatMap(({ secret }) => (secret === undefined ? [] : [secret.name]));
  return [...own, ...inside].map((one) => `volume ${name} (${secretNamed(one)})`);
}

function judgeWrapper({ applications, wrapped, exists }: Subject) {
  if (wrapped.length === 0) return noneWrapped;
  if (wrapped.length === applications.length) return { points: wrapperPoints, because: allWrapped(exists) };
  const left = applications.filter((one) => !wrapped.includes(one)).map(({ name }) => name);
  return {
    points: Math.floor((wrapperPoints / 2) * (wrapped.length / applications.length)),
    because: `${wrapped.length} of ${applications.length} containers start under the wrapper.`,
    remedy: `Wrap these too (svc/containers): ${left.join(', ')}.`,
  };
}
