/** Ways to install that differ in what is rendered; each is rendered, and taken by a real API server. */
export const INSTALLATIONS: Readonly<Record<string, { values: object; options?: readonly string[] }>> = {
  'as it is': { values: {} },
  'highly available': { values: { operator: { ha: true } } },
  'several replicas without anti-affinity': { values: { operator: { replicaCount: 2 } } },
  'one replica that does not wait for the lease': { values: { operator: { leaderElect: false } } },
  'tokens with an audience': { values: { operator: { tokenAudience: 'https://vault.example' } } },
  'named fields only': { values: { operator: { envMapOnly: true } } },
  'a certificate of its own': { values: { operator: { webhook: { certSecret: 'webhook-cert' } } } },
  'a private authority': {
    values: { operator: { vaultCA: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n' } },
  },
  'object stores of a private authority': {
    values: { operator: { storeCA: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n' } },
  },
  'registries of a private authority, with credentials': {
    values: {
      operator: {
        registryCA: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
        registryCredentials: 'look-ups',
      },
    },
  },
  'API servers that say who they are': {
    values: {
      operator: { webhook: { clientCA: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n' } },
    },
  },
  'with monitoring': { values: { monitoring: { enabled: true, labels: { release: 'prometheus' } } } },
  'without agents': { values: { ebpf: { enabled: false } } },
  'audit only': { values: { enforceMode: false } },
  'reactive kill': { values: { reactiveKill: true, ebpf: { requireEnforcement: true } } },
  'the wrapper as an image volume': { values: { operator: { wrapperDelivery: 'image' } } },
  'the wrapper on the host': { values: { operator: { wrapperDelivery: 'host' } } },
  'for development': {
    values: { operator: { development: true, webhook: { failurePolicy: 'Ignore' } } },
  },
  'without network policies': { values: { networkPolicy: { enabled: false } } },
  'with addresses in network policies': {
    values: { networkPolicy: { apiServer: { cidrs: ['10.0.0.1/32', 'fd00::1/128'], ports: [6443] } } },
  },
  'images of a mirror, by digest': {
    values: {
      registry: 'registry.example:5000',
      imagePullSecrets: ['pull'],
      operator: {
        image: { digest: `sha256:${'a'.repeat(64)}` },
        registryMirrors: ['docker.io=https://mirror.example', 'ghcr.io=https://mirror.example'],
      },
    },
  },
  'chosen nodes': {
    values: {
      operator: {
        nodeSelector: { pool: 'system' },
        tolerations: [{ operator: 'Exists' }],
        podAnnotations: { 'example.com/a': 'b' },
      },
      ebpf: { nodeSelector: { pool: 'apps' }, maxUnavailable: 1, podAnnotations: { 'example.com/a': 'b' } },
    },
  },
  'collecting garbage': { values: { proxy: { gc: { enabled: true, region: 'eu-central-1' } } } },
  'collecting garbage of a private store': {
    values: {
      proxy: {
        gc: {
          enabled: true,
          upstream: 'https://s3.example:9000',
          region: 'eu-1',
          storeCA: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
          credentialsSecret: 'store',
          serviceAccountAnnotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/gc' },
          buckets: ['photos', 'papers'],
          stateBucket: 'helpers',
          delete: false,
        },
      },
      networkPolicy: { objectStores: { cidrs: ['10.0.0.9/32'], ports: [9000] } },
    },
  },
  'Kubernetes 1.28, without native sidecars': { values: {}, options: ['--kube-version=1.28.0'] },
};
