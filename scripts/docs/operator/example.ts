import { Document, isScalar, visit } from 'yaml';
import type { InjectionDefaults, MutationEnvironment } from '../../../src/cluster/injection/contract.ts';
import { mutatePod } from '../../../src/cluster/injection/mutate/mutate-pod.ts';
import { resolveInjection } from '../../../src/cluster/injection/resolve/resolve-injection.ts';
import type { Pod } from '../../../src/cluster/kube/pod.ts';

const before: Pod = {
  metadata: {
    name: 'shop',
    namespace: 'shop',
    annotations: {
      'svc/inject': 'true',
      'svc/vault-role': 'shop',
      'svc/secret-paths': 'secret/shop/db',
      'svc/env-map': 'password=DB_PASSWORD',
    },
  },
  spec: {
    containers: [
      {
        name: 'shop',
        image: 'registry.example/shop:7',
        command: ['/usr/bin/shop'],
        args: ['--port', '8000'],
        volumeMounts: [
          { name: 'kube-api-access-x2x4x', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
        ],
      },
    ],
    securityContext: { runAsUser: 0 },
  },
};

const defaults: InjectionDefaults = {
  vaultAddress: 'https://vault.example:8200',
  wrapperImage: 'registry.example/svc/wrapper:0.1.0',
  proxyImage: 'registry.example/svc/proxy:0.1.0',
  wrapperDelivery: 'copy',
  seccompDefault: true,
  caConfigMap: 'svc-ca',
  agentSocket: '/run/svc/agent.sock',
  development: false,
};

const surroundings: MutationEnvironment = {
  podSecurity: 'privileged',
  nativeSidecars: true,
  images: new Map(),
};

/** A pod as a person wrote it, and as the webhook leaves it. */
export function exampleRegion(): string[] {
  return ['Before:', '', ...yamlOf(before), '', 'After:', '', ...yamlOf(protectedPod())];
}

/** @throws Error where the example is not what the webhook would take */
function protectedPod(): Pod {
  const resolution = resolveInjection(before, {
    ...{ namespace: 'shop', namespaceLabels: {}, defaults },
    ...{ serviceConfigs: [], secretMappings: new Map() },
  });
  if (resolution.kind !== 'inject')
    throw new Error(`the example is not injected: ${JSON.stringify(resolution)}`);
  const mutation = mutatePod(before, resolution.plan, defaults, surroundings);
  if (mutation.kind !== 'pod') throw new Error(`the example is refused: ${mutation.errors.join('; ')}`);
  return mutation.pod;
}

/** Lists of words in one line, as people write them. */
function yamlOf(pod: Pod): string[] {
  const document = new Document(pod, { aliasDuplicateObjects: false });
  visit(document, {
    Seq(_, list) {
      list.flow = list.items.every(isScalar);
    },
  });
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  return ['```yaml', ...text.trimEnd().split('\n'), '```'];
}
