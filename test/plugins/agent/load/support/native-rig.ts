import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildBypass } from '../../../../support/bypass/build.ts';
import { startKubernetes } from '../../../../support/kubernetes.ts';
import { startOperator, type TestOperator } from '../../../../support/operator-channel.ts';
import { type SvcAgent, startSvcAgent } from '../../../../support/svc-agent.ts';
import { temporaryFolder } from '../../../../support/temporary.ts';
import { privateFileSystem } from '../../bpf/private-file-system.ts';
import { type RegistrarPlace, startRegistrar } from '../../bypass/driver/registrar-place.ts';
import { insideOf } from './service-account.ts';

const registrar = fileURLToPath(new URL('../../bypass/driver/registrar.ts', import.meta.url));

/** The real agent on the tier of this machine, as a node has it: with an operator and, where wanted, a cluster. */
export interface NativeRig {
  readonly agent: SvcAgent;
  readonly operator: TestOperator;
  /** The program of test/tools/bypass. */
  readonly bypass: string;
  /** A registrar; what it starts is covered once `protect` was called. */
  place(): Promise<RegistrarPlace>;
  stop(): Promise<void>;
}

export interface NativeRigOptions {
  /** Labelled pods of the node, at a real API server that the agent follows; default: there is none. */
  readonly pods?: number;
  readonly env?: NodeJS.ProcessEnv;
}

const node = 'loaded';

export async function startNativeRig({ pods, env = {} }: NativeRigOptions = {}): Promise<NativeRig> {
  const folder = temporaryFolder('load');
  const files = privateFileSystem();
  const operator = await startOperator();
  const cluster = pods === undefined ? undefined : await startCluster(pods);
  const places: RegistrarPlace[] = [];
  const agent = await startSvcAgent({
    bpfFolder: join(files.path, 'svc'),
    env: { NODE_NAME: node, ...operatorEnv(operator), ...cluster?.inside.env, ...env },
    under: cluster?.inside.under ?? [],
  });
  return {
    ...{ agent, operator, bypass: await buildBypass(folder.path) },
    async place() {
      const place = await startRegistrar(registrar, agent.address.replace('unix://', ''));
      places.push(place);
      return place;
    },
    async stop() {
      for (const place of places) await place.end();
      await agent.stop();
      await cluster?.stop();
      await operator.stop();
      files.remove();
      await folder.remove();
    },
  };
}

function operatorEnv({ address, tls }: TestOperator): NodeJS.ProcessEnv {
  return {
    SVC_OPERATOR_ADDR: `${address.host}:${address.port}`,
    SVC_OPERATOR_TLS_CERT: tls.certPath,
    SVC_OPERATOR_TLS_KEY: tls.keyPath,
    SVC_OPERATOR_TLS_CA: tls.caPath,
  };
}

async function startCluster(pods: number) {
  const kubernetes = await startKubernetes();
  const namespace = await kubernetes.createNamespace();
  for (let index = 0; index < pods; index++) {
    await kubernetes.must('POST', `/api/v1/namespaces/${namespace}/pods`, podOf(`pod-${index}`));
  }
  const inside = insideOf(kubernetes);
  const stop = async () => {
    await kubernetes.stop();
    await inside.remove();
  };
  return { inside, stop };
}

function podOf(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { 'svc/protected': 'true' } },
    spec: { nodeName: node, containers: [{ name: 'app', image: 'app' }] },
  };
}
