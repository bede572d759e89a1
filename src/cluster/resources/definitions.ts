import type { Factor, Finding } from '../score/contract.ts';
import type { PassedOverTier } from '../score/workloads.ts';
import {
  type AnySchema,
  type CustomResource,
  type CustomResourceDefinition,
  definitionOf,
  type NumberSchema,
  type PrinterColumn,
  type SchemaOf,
} from './definition.ts';
import {
  type NodeReportEntry,
  type ProtectionReportStatus,
  type ReportSummary,
  reportName,
  type WorkloadReport,
} from './protection-report.ts';
import type { SecretMappingSpec, SecretMappingStatus } from './resources.ts';
import { conditions, observedGeneration, prose, secretVariables, timestamp } from './schema-parts.ts';
import { serviceConfigSpec, serviceConfigStatus } from './service-config-schema.ts';

const serviceConfig: CustomResource = {
  ...{ kind: 'ServiceConfig', plural: 'serviceconfigs', shortName: 'sconf' },
  description: 'How the selected pods of a namespace are protected.',
  ...{ spec: serviceConfigSpec as AnySchema, status: serviceConfigStatus as AnySchema },
  columns: [
    condition('Ready'),
    condition('Valid'),
    { name: 'Pods', type: 'integer', jsonPath: '.status.matchedPods', description: 'Selected pods' },
    {
      ...{ name: 'Protected', type: 'integer', jsonPath: '.status.protectedPods' },
      description: 'Those that run under the wrapper',
    },
    { name: 'Role', type: 'string', jsonPath: '.spec.vault.role', priority: 1 },
    { name: 'Vault', type: 'string', jsonPath: '.spec.vault.address', priority: 1 },
  ],
};

const secretMappingSpec: SchemaOf<SecretMappingSpec> = {
  type: 'object',
  description: 'KV paths and the variables that their fields become.',
  required: { secrets: true },
  properties: {
    secrets: {
      type: 'array',
      description: 'One item per path.',
      ...{ minItems: 1, maxItems: 32, unique: ['path'], items: secretVariables },
    },
  },
};

const secretMappingStatus: SchemaOf<SecretMappingStatus> = {
  type: 'object',
  description: 'State observed by the operator.',
  required: {},
  properties: {
    observedGeneration: observedGeneration(),
    usedBy: {
      type: 'array',
      description: 'Users as ServiceConfig/<name> or Pod/<name>, sorted; the first 50.',
      ...{ maxItems: 50, unique: 'no', items: prose('Kind and name.', 512) },
    },
    users: { type: 'integer', description: 'How many use it.', minimum: 0 },
    lastValidated: timestamp('When it was last validated.'),
    conditions,
  },
};

const secretMapping: CustomResource = {
  ...{ kind: 'SecretMapping', plural: 'secretmappings', shortName: 'smap' },
  description: 'Named KV paths and variables that pods and ServiceConfigs share.',
  ...{ spec: secretMappingSpec as AnySchema, status: secretMappingStatus as AnySchema },
  columns: [
    condition('Valid'),
    { name: 'Users', type: 'integer', jsonPath: '.status.users', description: 'Number of users' },
    { name: 'Validated', type: 'date', jsonPath: '.status.lastValidated', priority: 1 },
  ],
};

const count = (description: string): NumberSchema => ({ type: 'integer', description, minimum: 0 });
const points = (description: string): NumberSchema => ({
  ...{ type: 'number', description, minimum: 0, maximum: 100 },
});

const summary: SchemaOf<ReportSummary> = {
  type: 'object',
  description: 'The namespace as a whole.',
  required: { workloads: true, protected: true, lowestScore: true, leftOut: true },
  properties: {
    workloads: count('Workloads of the namespace.'),
    protected: count('Those with every pod wrapped.'),
    lowestScore: points('Score of the least protected one.'),
    leftOut: count('Workloads that are not in the list.'),
    nodesLeftOut: count('Nodes that are not in the list.'),
  },
};

const factor: SchemaOf<Factor> = {
  type: 'object',
  description: 'One factor of a score.',
  required: { name: true, points: true, of: true, because: true },
  properties: {
    name: prose('Name, such as wrapper.', 253),
    points: points('Points earned.'),
    of: points('Most points possible.'),
    because: prose('Why it has these points.'),
    remedy: prose('How to get the missing points.'),
  },
};

const finding: SchemaOf<Finding> = {
  type: 'object',
  description: 'A problem.',
  required: { id: true, message: true },
  properties: { id: prose('Kind, such as secret-reference.', 253), message: prose('A sentence.') },
};

const workload: SchemaOf<WorkloadReport> = {
  type: 'object',
  description: 'One workload.',
  required: { kind: true, name: true, score: true, pods: true, addends: true, findings: true },
  properties: {
    kind: prose('Kind, such as Deployment.', 253),
    name: prose('Its name.', 253),
    score: points('0 to 100; that of its worst pod.'),
    pods: count('Number of pods.'),
    addends: {
      type: 'array',
      description: 'The factors of the score.',
      ...{ maxItems: 32, unique: 'no', items: factor },
    },
    findings: {
      type: 'array',
      description: 'Problems beyond the score.',
      ...{ maxItems: 1_000, unique: 'no', items: finding },
    },
  },
};

const tier = (description: string): NumberSchema => ({
  ...{ type: 'integer', description, minimum: 1, maximum: 4 },
});

const passedOver: SchemaOf<PassedOverTier> = {
  type: 'object',
  description: 'A tier that is not in force.',
  required: { tier: true, reason: true },
  properties: { tier: tier('The tier.'), reason: prose('Why not, as the agent reports.') },
};

const node: SchemaOf<NodeReportEntry> = {
  type: 'object',
  description: 'What the agent of a node enforces.',
  required: { name: true, tier: true, enforcing: true },
  properties: {
    name: prose('Name of the node.', 253),
    tier: tier('1 BPF LSM, 2 fmod_ret, 3 raw tracepoints, 4 nothing.'),
    enforcing: { type: 'boolean', description: 'Reads by others are denied, or the readers killed.' },
    reason: prose('Why it does not enforce.'),
    passedOver: {
      type: 'array',
      description: 'Why no higher tier is in force, highest first.',
      ...{ maxItems: 16, unique: 'no', items: passedOver },
    },
  },
};

const protectionReportStatus: SchemaOf<ProtectionReportStatus> = {
  type: 'object',
  description: 'How well the workloads of the namespace are protected.',
  required: { summary: true, workloads: true },
  properties: {
    summary,
    workloads: {
      type: 'array',
      description: 'Sorted by kind and name.',
      ...{ maxItems: 500, unique: 'no', items: workload },
    },
    nodes: {
      type: 'array',
      description: 'Nodes of its pods whose agent reports, sorted by name.',
      ...{ maxItems: 500, unique: 'no', items: node },
    },
    conditions,
  },
};

const protectionReport: CustomResource = {
  ...{ kind: 'ProtectionReport', plural: 'protectionreports', shortName: 'preport' },
  description: 'How well the workloads of a namespace are protected; written by the operator alone.',
  status: protectionReportStatus as AnySchema,
  rules: [
    {
      rule: `self.metadata.name == '${reportName}'`,
      message: `a namespace has one report, named ${reportName}`,
    },
  ],
  columns: [
    { name: 'Workloads', type: 'integer', jsonPath: '.status.summary.workloads' },
    { name: 'Protected', type: 'integer', jsonPath: '.status.summary.protected' },
    { name: 'Lowest', type: 'number', jsonPath: '.status.summary.lowestScore', description: 'Least score' },
    { name: 'Left out', type: 'integer', jsonPath: '.status.summary.leftOut', priority: 1 },
  ],
};

/** The definitions of all custom resources, by plural. */
export const definitions: Readonly<Record<string, CustomResourceDefinition>> = Object.fromEntries(
  [serviceConfig, secretMapping, protectionReport].map((one) => [one.plural, definitionOf(one)]),
);

function condition(type: string): PrinterColumn {
  return { name: type, type: 'string', jsonPath: `.status.conditions[?(@.type=="${type}")].status` };
}
