import type { LabelRequirement, LabelSelector } from '../kube/labels.ts';
import type { SchemaOf } from './definition.ts';
import type {
  EgressDestination,
  ProxyRequest,
  ServiceConfigSpec,
  ServiceConfigStatus,
  VaultReference,
} from './resources.ts';
import {
  conditions,
  configMapKey,
  containerName,
  duration,
  encryptedUrl,
  hostName,
  httpUrl,
  kvPath,
  mountPath,
  namesUpTo,
  objectName,
  observedGeneration,
  prose,
  recipient,
  roleName,
  secretVariables,
  transitKeyName,
} from './schema-parts.ts';

const vault: SchemaOf<VaultReference> = {
  type: 'object',
  description: 'The secrets server, and how pods log in to it.',
  required: {},
  properties: {
    address: encryptedUrl('URL of the server; unset: that of the operator.'),
    role: roleName("Role that accepts the pods' service accounts."),
    authMount: mountPath('Where the kubernetes auth method is mounted; unset: auth/kubernetes.'),
    tokenAudience: {
      type: 'string',
      description:
        "Audience of the token that pods present; unset: that of the operator, or the API server's.",
      ...{ minLength: 1, maxLength: 253 },
      rules: [{ rule: "self.matches(r'^[!-~]+$')", message: 'should have no blanks' }],
    },
    skipVerify: {
      type: 'boolean',
      description: 'Do not verify its certificate; refused unless the operator runs in development mode.',
    },
  },
};

const proxy: SchemaOf<ProxyRequest> = {
  type: 'object',
  description: 'The S3 encryption proxy beside the application.',
  required: { enabled: true },
  properties: {
    enabled: { type: 'boolean', description: 'Whether pods get the proxy.' },
    role: roleName('Role at the secrets server with a policy of its own; unset: that of the pod.'),
    upstream: httpUrl('URL of the object store.'),
    storeCIDRs: {
      type: 'array',
      description:
        'Blocks that the addresses of the object store are in, such as those its provider publishes: for a store ' +
        'whose addresses keep changing. /8 (IPv6: /7) or smaller; for pods with the proxy alone.',
      ...{ minItems: 1, maxItems: 64, unique: 'items' },
      items: { type: 'string', description: 'Block such as 192.0.2.0/24.', format: 'cidr', maxLength: 49 },
    },
    transitKey: transitKeyName('Transit key that wraps the data keys; unset: svc.'),
    format: {
      type: 'integer',
      description: 'Format of written objects; 2: in segments, for cheap range reads; unset: 1.',
      ...{ minimum: 1, maximum: 2 },
    },
    recoveryRecipients: {
      type: 'array',
      description:
        'X25519 public keys to which each data key is also sealed: their private keys read objects without the key server.',
      ...{ minItems: 1, maxItems: 8, unique: 'items' },
      items: recipient('Public key, age1… or 32 bytes in base64.'),
    },
    callerKeys: {
      type: 'boolean',
      description: 'Whether callers must sign with keys made for each pod.',
    },
    storeCA: configMapKey(
      'ConfigMap of the namespace with the CA certificates of the object store, or <name>/<key>, for the proxy only; ' +
        'the key is ca.crt if left out. Unset: those of the operator, if it has any; empty: the public CAs.',
    ),
    credentialsSecret: objectName(
      'Secret of the namespace with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for the proxy only.',
    ),
  },
  rules: [
    {
      rule: 'self.enabled || !(has(self.role) || has(self.upstream) || has(self.storeCIDRs) || has(self.transitKey) || has(self.format) || has(self.recoveryRecipients) || has(self.callerKeys) || has(self.storeCA) || has(self.credentialsSecret))',
      message:
        'role, upstream, storeCIDRs, transitKey, format, recoveryRecipients, callerKeys, storeCA and credentialsSecret have no effect unless enabled is true',
    },
  ],
};

const egress: SchemaOf<EgressDestination> = {
  type: 'object',
  description: 'Either a host or a block of addresses.',
  required: {},
  properties: {
    host: hostName('Host name.'),
    cidr: { type: 'string', description: 'Block such as 10.0.0.0/8.', format: 'cidr', maxLength: 49 },
    port: { type: 'integer', description: 'Unset: 443.', minimum: 1, maximum: 65_535 },
    protocol: { type: 'string', description: 'Unset: TCP.', words: { TCP: true, UDP: true } },
  },
  rules: [{ rule: 'has(self.host) != has(self.cidr)', message: 'should have host or cidr, one of the two' }],
};

const requirement: SchemaOf<LabelRequirement> = {
  type: 'object',
  description: 'One requirement.',
  required: { key: true, operator: true },
  properties: {
    key: prose('Name of the label.', 317),
    operator: {
      type: 'string',
      description: 'How the label relates to the values.',
      words: { In: true, NotIn: true, Exists: true, DoesNotExist: true },
    },
    values: {
      type: 'array',
      description: 'Values of the label, for In and NotIn.',
      ...{ maxItems: 64, unique: 'no', items: prose('One value.', 63) },
    },
  },
  rules: [
    {
      rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
      message: 'values are required for In and NotIn, and allowed for no other operator',
    },
  ],
};

const labelSelector: SchemaOf<LabelSelector> = {
  type: 'object',
  description: 'Selects the pods of the namespace that meet every requirement; if empty, all of them.',
  required: {},
  properties: {
    matchLabels: {
      type: 'map',
      description: 'Labels that a pod must have, with these values.',
      ...{ maxProperties: 64, values: prose('Value of the label.', 63) },
      rules: [namesUpTo(317, 'the name of a label')],
    },
    matchExpressions: {
      type: 'array',
      description: 'Further requirements.',
      ...{ maxItems: 32, unique: 'no', items: requirement },
    },
  },
};

export const serviceConfigSpec: SchemaOf<ServiceConfigSpec> = {
  type: 'object',
  description: 'Settings of the selected pods; annotations of a pod override them, field by field.',
  required: { selector: true },
  properties: {
    selector: labelSelector,
    vault,
    secretPaths: {
      type: 'array',
      description: 'KV paths; all fields of each are delivered.',
      ...{ minItems: 1, maxItems: 64, unique: 'items', items: kvPath('KV path, such as secret/app.') },
    },
    envMap: {
      type: 'array',
      description: 'Variable names for fields of these paths.',
      ...{ maxItems: 32, unique: ['path'], items: secretVariables },
    },
    envMapOnly: {
      type: 'boolean',
      description:
        'Whether only named fields are delivered; unset: as operator.envMapOnly says, which false must not contradict.',
    },
    secretMappings: {
      type: 'array',
      description: 'SecretMappings of the namespace.',
      ...{ minItems: 1, maxItems: 32, unique: 'items', items: objectName('Name of one.') },
    },
    rotation: {
      type: 'string',
      description: 'What to do when secrets change: restart the application, send it SIGHUP, or nothing.',
      words: { restart: true, sighup: true, none: true },
    },
    renewalInterval: duration('How often tokens are renewed and secrets checked; unset: 5m.'),
    delivery: {
      type: 'string',
      description: 'Where the application finds the secrets: env, fd (a protected descriptor) or both.',
      words: { both: true, env: true, fd: true },
    },
    containers: {
      type: 'array',
      description: 'Containers to protect; unset: all but known mesh sidecars.',
      ...{ minItems: 1, maxItems: 64, unique: 'items', items: containerName('Name of one.') },
    },
    proxy,
    egress: {
      type: 'array',
      description: 'Further destinations that the egress policy allows.',
      ...{ maxItems: 64, unique: 'no', items: egress },
    },
  },
  rules: [
    {
      rule: '!has(self.envMap) || self.envMap.all(one, has(self.secretPaths) && one.path in self.secretPaths)',
      message: 'each path of envMap should be one of secretPaths',
    },
  ],
};

export const serviceConfigStatus: SchemaOf<ServiceConfigStatus> = {
  type: 'object',
  description: 'State observed by the operator.',
  required: {},
  properties: {
    observedGeneration: observedGeneration(),
    matchedPods: { type: 'integer', description: 'Pods that it selects.', minimum: 0 },
    protectedPods: { type: 'integer', description: 'Those that run under the wrapper.', minimum: 0 },
    conditions,
  },
};
