import type { Addend, Finding } from '../../score/contract.ts';
import type { PassedOverTier } from '../../score/workloads/agents-told.ts';
import type {
  NodeReport,
  ProtectionReportStatus,
  ReportSummary,
  WorkloadReport,
} from '../protection-report.ts';
import { conditions } from './condition.ts';
import type { NumberSchema, SchemaOf } from './schema-of.ts';
import { prose } from './texts.ts';

const count = (description: string): NumberSchema => ({ type: 'integer', description, minimum: 0 });
const points = (description: string): NumberSchema => ({
  ...{ type: 'number', description, minimum: 0, maximum: 100 },
});

const addend: SchemaOf<Addend> = {
  type: 'object',
  description: 'One part of a score.',
  required: { name: true, points: true, of: true, because: true },
  properties: {
    name: prose('Which part, such as wrapper.', 253),
    points: points('What it brings.'),
    of: points('What it could bring.'),
    because: prose('What is there or missing.'),
    remedy: prose('What would bring the missing points.'),
  },
};

const finding: SchemaOf<Finding> = {
  type: 'object',
  description: 'Something to look at.',
  required: { id: true, message: true },
  properties: { id: prose('Which kind, such as secret-reference.', 253), message: prose('A sentence.') },
};

const summary: SchemaOf<ReportSummary> = {
  type: 'object',
  description: 'The namespace as a whole.',
  required: { workloads: true, protected: true, lowestScore: true, leftOut: true },
  properties: {
    workloads: count('Workloads of the namespace.'),
    protected: count('Those with every pod wrapped.'),
    lowestScore: points('Score of the least protected one.'),
    leftOut: count('Workloads that found no room in the list.'),
    nodesLeftOut: count('Nodes that found no room in theirs.'),
  },
};

const workload: SchemaOf<WorkloadReport> = {
  type: 'object',
  description: 'One workload.',
  required: { kind: true, name: true, score: true, pods: true, addends: true, findings: true },
  properties: {
    kind: prose('Such as Deployment.', 253),
    name: prose('Its name.', 253),
    score: points('0 to 100; that of its worst pod.'),
    pods: count('How many it has.'),
    addends: {
      type: 'array',
      description: 'What the score is the sum of.',
      ...{ maxItems: 32, unique: 'no', items: addend },
    },
    findings: {
      type: 'array',
      description: 'What the score does not say.',
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
  properties: { tier: tier('Which one.'), reason: prose('Why not, as the agent says it.') },
};

const node: SchemaOf<NodeReport> = {
  type: 'object',
  description: 'What the agent of a node enforces.',
  required: { name: true, tier: true, enforcing: true },
  properties: {
    name: prose('Of the node.', 253),
    tier: tier('1 BPF LSM, 2 fmod_ret, 3 raw tracepoints, 4 nothing.'),
    enforcing: { type: 'boolean', description: 'Reads by others are denied, or their readers killed.' },
    reason: prose('Why it does not enforce.'),
    passedOver: {
      type: 'array',
      description: 'Why no higher tier is in force, highest first.',
      ...{ maxItems: 16, unique: 'no', items: passedOver },
    },
  },
};

export const protectionReportStatus: SchemaOf<ProtectionReportStatus> = {
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
      description: 'Nodes that its pods run on and whose agent tells, sorted by name.',
      ...{ maxItems: 500, unique: 'no', items: node },
    },
    conditions,
  },
};
