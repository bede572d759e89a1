import {
  type CustomResource,
  type CustomResourceDefinition,
  definitionOf,
  type PrinterColumn,
} from './definition.ts';
import { reportName } from './protection-report.ts';
import { protectionReportStatus } from './schema/protection-report.ts';
import type { AnySchema } from './schema/schema-of.ts';
import { secretMappingSpec, secretMappingStatus } from './schema/secret-mapping.ts';
import { serviceConfigSpec, serviceConfigStatus } from './schema/service-config.ts';

const serviceConfig: CustomResource = {
  ...{ kind: 'ServiceConfig', plural: 'serviceconfigs', shortName: 'sconf' },
  description: 'What the pods of a namespace that it selects are protected with.',
  ...{ spec: serviceConfigSpec as AnySchema, status: serviceConfigStatus as AnySchema },
  columns: [
    condition('Ready'),
    condition('Valid'),
    { name: 'Pods', type: 'integer', jsonPath: '.status.matchedPods', description: 'Pods that it selects' },
    {
      ...{ name: 'Protected', type: 'integer', jsonPath: '.status.protectedPods' },
      description: 'Those that carry the wrapper',
    },
    { name: 'Role', type: 'string', jsonPath: '.spec.vault.role', priority: 1 },
    { name: 'Vault', type: 'string', jsonPath: '.spec.vault.address', priority: 1 },
  ],
};

const secretMapping: CustomResource = {
  ...{ kind: 'SecretMapping', plural: 'secretmappings', shortName: 'smap' },
  description: 'KV paths and variables under a name that several pods and ServiceConfigs use.',
  ...{ spec: secretMappingSpec as AnySchema, status: secretMappingStatus as AnySchema },
  columns: [
    condition('Valid'),
    { name: 'Users', type: 'integer', jsonPath: '.status.users', description: 'How many use it' },
    { name: 'Validated', type: 'date', jsonPath: '.status.lastValidated', priority: 1 },
  ],
};

const protectionReport: CustomResource = {
  ...{ kind: 'ProtectionReport', plural: 'protectionreports', shortName: 'preport' },
  description: 'How well the workloads of a namespace are protected; written by the operator alone.',
  status: protectionReportStatus as AnySchema,
  rules: [
    {
      rule: `self.metadata.name == '${reportName}'`,
      message: `a namespace has one report, which is named ${reportName}`,
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
