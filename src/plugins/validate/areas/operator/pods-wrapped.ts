import {
  applicationContainers,
  carriesWrapper,
  containersOf,
  proxyName,
  tokenFolder,
  wrappedContainers,
} from '../../../../cluster/injection/protected-pods.ts';
import type { Container, Pod } from '../../../../cluster/kube/pod.ts';
import { counted } from '../../../../runtime/units.ts';
import {
  type CheckContext,
  type CheckFailure,
  type CheckResult,
  NotEvaluated,
  notEvaluated,
  skipped,
  verdict,
} from '../../check.ts';
import { assertInstalled, operatorOf } from '../../cluster/operator.ts';
import { protectedPodsOf, type SeenPod } from '../../cluster/pods.ts';
import { capped, getObject } from '../../cluster/read.ts';
import { clusterCheck } from '../../make-check.ts';

export const podsWrapped = clusterCheck('SVC-OPERATOR-015', 'error', {
  timeoutMs: 60_000,
  title: 'Every pod that asks for protection runs under the wrapper',
  cause:
    'The pod is older than its ServiceConfig or than the operator, or its label was removed. A container may also be left out by svc/containers, which is a warning.',
  fix: 'Recreate the pods: kubectl rollout restart. Name all containers with secrets in svc/containers, or none.',
  async run(context) {
    const { asking, labelled } = await protectedPodsOf(context);
    const all = [...new Set([...asking, ...labelled])];
    if (all.length === 0) return skipped('No pod asks for protection');
    return verdict(capped(all.flatMap(problemOf)), counted(all.length, 'pod'));
  },
});

function problemOf({ key, pod }: SeenPod): readonly CheckFailure[] {
  const wrapped = wrappedContainers(pod);
  if (wrapped.length === 0) return [{ subject: key, message: 'It runs without the wrapper.' }];
  if (!carriesWrapper(pod)) return [{ subject: key, message: 'Its label svc/protected=true was removed.' }];
  const bare = applicationContainers(pod).filter((one) => !wrapped.includes(one));
  if (bare.length === 0) return [];
  const names = bare.map(({ name }) => name).join(', ');
  return [
    { subject: key, message: `These containers of it run without the wrapper: ${names}.`, level: 'warning' },
  ];
}

export const wrappersCurrent = clusterCheck('SVC-OPERATOR-016', 'warning', {
  timeoutMs: 60_000,
  title: 'Protected pods have the current wrapper of the operator',
  cause: 'The operator was upgraded after they were created.',
  fix: 'Recreate them: kubectl rollout restart.',
  async run(context) {
    const [operator, { labelled }] = await Promise.all([operatorOf(context), protectedPodsOf(context)]);
    assertInstalled(operator);
    const current = operator.env['SVC_WRAPPER_IMAGE'];
    if (current === undefined)
      return notEvaluated('The operator does not say which image its wrapper is from');
    const known = labelled.filter(({ wrapperImage }) => wrapperImage !== undefined);
    return judgePods(known, 'No protected pod has the wrapper from an image', (_pod, { wrapperImage }) =>
      wrapperImage === current
        ? undefined
        : `Its wrapper is from ${wrapperImage}, now it is from ${current}.`,
    );
  },
});

export const verification = clusterCheck('SVC-OPERATOR-018', 'error', {
  timeoutMs: 60_000,
  title: 'Every protected pod verifies the certificate of the secrets server',
  cause:
    'VAULT_SKIP_VERIFY is true, by a ServiceConfig with skipVerify under an operator in development mode.',
  fix: 'Remove skipVerify, set the authority in operator.vaultCA, and recreate the pods.',
  async run(context) {
    const { labelled } = await protectedPodsOf(context);
    return judgePods(labelled, 'There are no protected pods', (pod) =>
      naming('It verifies nothing in: ', containersOf(pod).filter(skipsVerification)),
    );
  },
});

export const tokenAudience = clusterCheck('SVC-OPERATOR-020', 'warning', {
  timeoutMs: 60_000,
  title: 'The token that protected pods present to the secrets server is worthless at the API server',
  cause:
    "No audience is set, so the API server accepts the token: anyone who reads it in transit, or in the secrets server, has the rights of the pod's service account.",
  fix: 'First set the audience on each auth role of the pods: `audience` of a role of the kubernetes auth method (bao write auth/kubernetes/role/NAME audience=https://vault.example with its other fields), `bound_audiences` of a jwt role. A role with another audience refuses such tokens; a kubernetes role without one accepts those of any service. Then set operator.tokenAudience (or svc/token-audience, or vault.tokenAudience of a ServiceConfig) to the same, and recreate the pods.',
  async run(context) {
    const { labelled } = await protectedPodsOf(context);
    const known = labelled.filter(({ pod }) => showing(pod).length > 0);
    if (known.length === 0) return skipped(noneWrapped);
    const audiences = await audiencesOfApiServer(context);
    return judgePods(known, noneWrapped, (pod) => {
      const open = showing(pod).filter((one) => opens(tokenOf(one, pod), audiences));
      return naming('The API server accepts the token of: ', open);
    });
  },
});

export const fieldsNamed = clusterCheck('SVC-OPERATOR-023', 'info', {
  timeoutMs: 60_000,
  title: 'Protected pods get only the fields of their secrets that they name',
  cause:
    'By default every field of a path becomes a variable of its name. Names that steer known programs are refused, but no list knows the variables of each application.',
  fix: 'If others than the owners of the pods may write these paths, name the wanted fields (svc/env-map, envMap of a ServiceConfig, a SecretMapping) and set svc/env-map-only: "true", or operator.envMapOnly for all pods.',
  async run(context) {
    const { labelled } = await protectedPodsOf(context);
    const known = labelled.filter(({ pod }) => wrappedContainers(pod).length > 0);
    return judgePods(known, noneWrapped, (pod) =>
      naming('Every field of its paths is a variable in: ', wrappedContainers(pod).filter(takesAllFields)),
    );
  },
});

const noneWrapped = 'No protected pod runs under the wrapper';

/** Judges each pod; undefined if nothing is wrong with it. @param none why the check is skipped without pods */
export function judgePods(
  pods: readonly SeenPod[],
  none: string,
  judge: (pod: Pod, seen: SeenPod) => string | undefined,
): CheckResult {
  if (pods.length === 0) return skipped(none);
  const failures = pods.flatMap((seen) => {
    const message = judge(seen.pod, seen);
    return message === undefined ? [] : [{ subject: seen.key, message }];
  });
  return verdict(capped(failures), counted(pods.length, 'pod'));
}

/** The containers that a message is about; undefined if there are none. */
const naming = (message: string, concerned: readonly Container[]): string | undefined =>
  concerned.length === 0 ? undefined : `${message}${concerned.map(({ name }) => name).join(', ')}.`;

const skipsVerification = ({ env = [] }: Container): boolean =>
  env.some(({ name, value }) => name === 'VAULT_SKIP_VERIFY' && value === 'true');

function takesAllFields({ env = [] }: Container): boolean {
  const valueIn = (wanted: string) => env.findLast(({ name }) => name === wanted)?.value;
  return valueIn('SVC_ENV_MAP_ONLY') !== 'true' && valueIn('SVC_DELIVERY') !== 'fd';
}

/** Containers that log in at the secrets server: wrapped ones and proxies. */
function showing(pod: Pod): readonly Container[] {
  const { initContainers = [], containers } = pod.spec;
  const proxies = [...initContainers, ...containers].filter(({ name }) => name === proxyName);
  return [...wrappedContainers(pod), ...proxies];
}

/** Audience of the token mounted for the login; undefined for the default token. */
function tokenOf({ volumeMounts = [] }: Container, { spec }: Pod): string | undefined {
  const mounted = volumeMounts.find(({ mountPath }) => mountPath === tokenFolder)?.name;
  const sources = spec.volumes?.find(({ name }) => name === mounted)?.projected?.sources;
  return sources?.find(({ serviceAccountToken }) => serviceAccountToken)?.serviceAccountToken?.audience;
}

const opens = (audience: string | undefined, audiences: readonly string[]): boolean =>
  audience === undefined || audiences.includes(audience.replace(/\/$/, ''));

const usualAudiences = ['https://kubernetes.default.svc', 'https://kubernetes.default.svc.cluster.local'];

/**
 * The API server's audience is its issuer unless --api-audiences says otherwise; the usual ones if the issuer is
 * unknown.
 */
async function audiencesOfApiServer(context: CheckContext): Promise<readonly string[]> {
  try {
    const path = '/.well-known/openid-configuration';
    const { issuer } = (await getObject<{ readonly issuer?: string }>(context, path)) ?? {};
    return issuer === undefined ? usualAudiences : [...usualAudiences, issuer.replace(/\/$/, '')];
  } catch (error) {
    if (error instanceof NotEvaluated) return usualAudiences;
    throw error;
  }
}
