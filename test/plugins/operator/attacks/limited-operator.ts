import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { manifest, parseManifests } from '../../../support/helm.ts';
import { http } from '../../../support/http.ts';
import { createMemoryCgroup } from '../../../support/limit-cgroup.ts';
import { environmentOf } from '../../../support/operator-cluster.ts';
import { type SmallApiServer, startSmallApiServer } from '../../../support/small-api-server.ts';
import { type SvcOperator, startSvcOperator } from '../../../support/svc-operator.ts';
import type { HttpResult, Stoppable } from '../../../support/types.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { insideOf } from '../../agent/load/support/service-account.ts';

const MiB = 1024 * 1024;
const plain = fileURLToPath(new URL('../../../../manifests/plain/svc.yaml', import.meta.url));

/** Of the operator's image, in manifests/Dockerfile. */
const imageEnv = {
  ...{ MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '65536' },
};

/** The operator as it is shipped, with the chart's environment and memory, at an API server that costs little. */
export interface LimitedOperator extends Stoppable {
  readonly api: SmallApiServer;
  readonly operator: SvcOperator;
  /** How many of its processes were killed for want of memory. */
  killed(): number;
  /** Most memory that it had at once, in bytes. */
  peak(): number;
  /** Sends a review as an API server does; the answer, whatever it is. */
  review(body: string): Promise<HttpResult>;
  /** Starts it again, with whatever the API server has now. */
  restart(): Promise<void>;
}

export interface LimitedOperatorOptions {
  /** Beside what the chart sets. */
  readonly env?: NodeJS.ProcessEnv;
  /** Called before it starts. */
  readonly prepare?: (api: SmallApiServer) => void;
  /** A command that executes the rest of its arguments. */
  readonly under?: readonly string[];
}

/** @throws ToolUnavailable where cgroups cannot be made, as without root */
export async function startLimitedOperator({
  env = {},
  prepare,
  under = [],
}: LimitedOperatorOptions = {}): Promise<LimitedOperator> {
  const cgroup = createMemoryCgroup(128 * MiB);
  const api = await startSmallApiServer();
  const manifests = parseManifests(readFileSync(plain, 'utf8'));
  const webhooks = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
  api.put(webhooks, manifest(manifests, 'MutatingWebhookConfiguration', 'svc-operator'));
  for (const name of ['svc-system', 'team']) api.put('/api/v1/namespaces', { metadata: { name } });
  prepare?.(api);
  const pod = insideOf(api);
  const start = () =>
    startSvcOperator({
      ...{ kubeconfig: '', host: '127.0.0.1' },
      env: {
        ...environmentOf(manifests),
        ...{ POD_NAME: 'svc-operator-0', POD_NAMESPACE: 'svc-system', ...imageEnv },
        ...{ SVC_OPERATOR_VAULT_ADDR: 'https://vault.example:8200' },
        ...{ ...pod.env, ...env },
      },
      under: [...under, ...cgroup.under, ...pod.under],
    });
  let operator = await start();
  const bundle = () => {
    const found = api.get(`${webhooks}/svc-operator`) as unknown as Webhooks;
    return found.webhooks[0]?.clientConfig.caBundle;
  };
  const ready = async () => {
    await waitFor('the webhook’s authorities', async () => bundle() !== undefined);
    await waitFor('the operator to be ready', async () => {
      const { status } = await http(`http://${operator.started['health']}/readyz`);
      return status === 200;
    });
  };
  await ready();
  return {
    api,
    get operator() {
      return operator;
    },
    ...{ killed: cgroup.killed, peak: cgroup.peak },
    review(body) {
      const ca = Buffer.from(bundle() ?? '', 'base64').toString();
      const headers = { host: 'svc-operator.svc-system.svc' };
      const url = `https://${operator.started['webhook']}/mutate?timeout=10s`;
      return http(url, { method: 'POST', body, ca, headers });
    },
    async restart() {
      await operator.kill('SIGTERM');
      await operator.stop();
      operator = await start();
      await ready();
    },
    async stop() {
      await operator.stop();
      await pod.remove();
      await api.stop();
      await cgroup.remove();
    },
  };
}

interface Webhooks {
  readonly webhooks: readonly { readonly clientConfig: { readonly caBundle?: string } }[];
}
