import type { SecretMappingSpec, SecretMappingStatus } from '../secret-mapping.ts';
import { conditions, observedGeneration } from './condition.ts';
import type { SchemaOf } from './schema-of.ts';
import { secretVariables } from './secret-variables.ts';
import { prose, timestamp } from './texts.ts';

export const secretMappingSpec: SchemaOf<SecretMappingSpec> = {
  type: 'object',
  description: 'KV paths and the variables that their fields become.',
  required: { secrets: true },
  properties: {
    secrets: {
      type: 'array',
      description: 'One item a path.',
      ...{ minItems: 1, maxItems: 32, unique: ['path'], items: secretVariables },
    },
  },
};

export const secretMappingStatus: SchemaOf<SecretMappingStatus> = {
  type: 'object',
  description: 'What the operator found.',
  required: {},
  properties: {
    observedGeneration: observedGeneration(),
    usedBy: {
      type: 'array',
      description: 'ServiceConfig/<name> and Pod/<name>, sorted; the first 50.',
      ...{ maxItems: 50, unique: 'no', items: prose('Kind and name.', 512) },
    },
    users: { type: 'integer', description: 'How many use it.', minimum: 0 },
    lastValidated: timestamp('When it was last looked at.'),
    conditions,
  },
};
