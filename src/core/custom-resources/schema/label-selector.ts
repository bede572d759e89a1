import type { LabelRequirement, LabelSelector } from '../../kubernetes/label-selector.ts';
import type { SchemaOf } from './schema-of.ts';
import { prose } from './texts.ts';

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
      message: 'values belong to In and NotIn, which need them, and to no other operator',
    },
  ],
};

export const labelSelector: SchemaOf<LabelSelector> = {
  type: 'object',
  description:
    'Pods of the namespace by their labels, as every requirement has it; an empty one selects all.',
  required: {},
  properties: {
    matchLabels: {
      type: 'map',
      description: 'Labels that a pod has to have, with these values.',
      ...{ maxProperties: 64, values: prose('Value of the label.', 63) },
    },
    matchExpressions: {
      type: 'array',
      description: 'Requirements beyond equality.',
      ...{ maxItems: 32, unique: 'no', items: requirement },
    },
  },
};
