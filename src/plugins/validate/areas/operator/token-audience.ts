import { wrappedContainers } from '../../../../core/cluster/protected.ts';
import { counted } from '../../../../core/counted.ts';
import { proxyName, volumeNames } from '../../../../core/injection/mutate/names.ts';
import type { Container, Pod } from '../../../../core/kubernetes/pod.ts';
import { capped } from '../../cluster/capped.ts';
import { protectedPodsOf } from '../../cluster/protected-pods.ts';
import { getObject } from '../../cluster/read.ts';
import type { Check, CheckContext } from '../../contract.ts';
import { NotEvaluated } from '../../not-evaluated.ts';
import { skipped, verdict } from '../../results.ts';

export const tokenAudience: Check = {
  ...{ id: 'SVC-OPERATOR-020', area: 'operator', level: 'warning', needs: 'cluster', timeoutMs: 60_000 },
  title: 'The token that protected pods show to the secrets server opens nothing at the API server',
  cause:
    "No audience is set, so that the token is the API server's own: whoever reads it on its way, or in the secrets server, can do there what the pod's service account may.",
  fix: "First give each auth role of the pods the audience: `audience` of a role of the kubernetes auth method (such as bao write auth/kubernetes/role/NAME audience=https://vault.example with the role's other fields), `bound_audiences` of one of jwt; a role that names another one refuses such tokens, and one of kubernetes that names none takes those of any service. Then set operator.tokenAudience (or svc/token-audience, or vault.tokenAudience of a ServiceConfig) to the same, and make the pods anew.",
  async run(context) {
    const { labelled } = await protectedPodsOf(context);
    const known = labelled.filter(({ pod }) => showing(pod).length > 0);
    if (known.length === 0) return skipped('No protected pod runs under the wrapper');
    const audiences = await audiencesOfApiServer(context);
    const failures = known.flatMap(({ key, pod }) => {
      const open = showing(pod).filter((one) => opens(tokenOf(one, pod), audiences));
      const names = open.map(({ name }) => name).join(', ');
      return names === '' ? [] : [{ subject: key, message: `The API server takes the token of: ${names}.` }];
    });
    return verdict(capped(failures), counted(known.length, 'pod'));
  },
};

/** Containers of ours that log in at the secrets server. */
function showing(pod: Pod): readonly Container[] {
  const { initContainers = [], containers } = pod.spec;
  const proxies = [...initContainers, ...containers].filter(({ name }) => name === proxyName);
  return [...wrappedContainers(pod), ...proxies];
}

/** Audience of the token that is mounted for the login; undefined where it is the one that every pod has. */
function tokenOf({ volumeMounts = [] }: Container, { spec }: Pod): string | undefined {
  if (!volumeMounts.some(({ name }) => name === volumeNames.token)) return undefined;
  const sources = spec.volumes?.find(({ name }) => name === volumeNames.token)?.projected?.sources;
  return sources?.find(({ serviceAccountToken }) => serviceAccountToken)?.serviceAccountToken?.audience;
}

const opens = (audience: string | undefined, audiences: readonly string[]): boolean =>
  audience === undefined || audiences.includes(audience.replace(/\/$/, ''));

const usualAudiences = ['https://kubernetes.default.svc', 'https://kubernetes.default.svc.cluster.local'];

/** Its audience is the issuer of its tokens unless --api-audiences says otherwise; where it is not told, the usual ones. */
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
