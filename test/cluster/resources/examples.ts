import type { ProtectionReportStatus } from '../../../src/cluster/resources/protection-report.ts';
import type {
  Condition,
  SecretMappingSpec,
  SecretMappingStatus,
  ServiceConfigSpec,
  ServiceConfigStatus,
} from '../../../src/cluster/resources/resources.ts';

/** Demands every member, down to the last. */
type Complete<T> = T extends string | number | boolean
  ? T
  : T extends readonly (infer E)[]
    ? readonly Complete<E>[]
    : { readonly [K in keyof T]-?: Complete<Exclude<T[K], undefined>> };

const condition: Complete<Condition> = {
  ...{ type: 'Ready', status: 'True', reason: 'Labelled', message: 'It is ready.' },
  ...{ lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 },
};

/** Host and block of addresses exclude each other. */
type WithoutEgress = Omit<Complete<ServiceConfigSpec>, 'egress'> & Pick<ServiceConfigSpec, 'egress'>;

export const fullServiceConfig: WithoutEgress = {
  selector: {
    matchLabels: { app: 'shop' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['web', 'api'] },
      { key: 'tier', operator: 'NotIn', values: ['db'] },
    ],
  },
  vault: {
    address: 'https://vault.example:8200',
    role: 'shop',
    tokenAudience: 'https://vault.example',
    authMount: 'auth/k8s',
    skipVerify: false,
  },
  secretPaths: ['secret/shop', 'secret/data/straße x'],
  envMap: [
    { path: 'secret/shop', variables: { user: 'DB_USER', 'tls.key': 'TLS_KEY' } },
    { path: 'secret/data/straße x', variables: {} },
  ],
  envMapOnly: true,
  secretMappings: ['database'],
  ...{ rotation: 'restart', renewalInterval: '1h30m', delivery: 'both', containers: ['shop', 'worker'] },
  proxy: {
    ...{ enabled: true, role: 'proxy', upstream: 'http://minio:9000', transitKey: 'shop' },
    storeCIDRs: ['192.0.2.0/24'],
    format: 2,
    recoveryRecipients: [
      'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p',
      'J08yBFB8K3yUvb2rMUFzGeRkTdLK9iOcFERqTz3zlj8=',
    ],
    callerKeys: true,
    storeCA: 'store-ca/root.crt',
    credentialsSecret: 'store-keys',
  },
  egress: [
    { host: 'db.example', port: 5_432, protocol: 'TCP' },
    { cidr: '10.0.0.0/8', port: 53, protocol: 'UDP' },
    { cidr: 'fd00::/8' },
  ],
};

export const fullServiceConfigStatus: Complete<ServiceConfigStatus> = {
  ...{ observedGeneration: 1, matchedPods: 3, protectedPods: 2, conditions: [condition] },
};

export const fullSecretMapping: Complete<SecretMappingSpec> = {
  secrets: [{ path: 'secret/db', variables: { user: 'DB_USER', password: 'DB_PASSWORD' } }],
};

export const fullSecretMappingStatus: Complete<SecretMappingStatus> = {
  ...{ observedGeneration: 1, usedBy: ['Pod/shop', 'ServiceConfig/shop'], users: 2 },
  ...{ lastValidated: '2026-01-01T00:00:00Z', conditions: [{ ...condition, type: 'Valid' }] },
};

export const fullReportStatus: Complete<ProtectionReportStatus> = {
  summary: { workloads: 2, protected: 1, lowestScore: 45, leftOut: 7, nodesLeftOut: 1 },
  workloads: [
    {
      ...{ kind: 'Deployment', name: 'shop', score: 45, pods: 3 },
      addends: [{ name: 'wrapper', points: 12.5, of: 30, because: 'It is not there.', remedy: 'Add it.' }],
      findings: [{ id: 'secret-reference', message: 'It reads a Secret.' }],
    },
  ],
  nodes: [
    {
      ...{ name: 'node-1', tier: 3, enforcing: false, reason: 'Audit mode.' },
      passedOver: [{ tier: 1, reason: 'bpf is not in the list of the LSMs.' }],
    },
  ],
  conditions: [condition],
};
