import type { Condition } from '../condition.ts';
import type { ListSchema, SchemaOf } from './schema-of.ts';
import { prose, timestamp } from './texts.ts';

const condition: SchemaOf<Condition> = {
  type: 'object',
  description: 'One aspect of the state.',
  required: { type: true, status: true, reason: true, message: true, lastTransitionTime: true },
  properties: {
    type: prose('Which aspect, such as Ready.', 316),
    status: {
      type: 'string',
      description: 'Whether it is so.',
      words: { True: true, False: true, Unknown: true },
    },
    reason: prose('One word in camel case, for programs.', 1_024),
    message: prose('A sentence, for people.', 32_768),
    lastTransitionTime: timestamp('When status last changed.'),
    observedGeneration: observedGeneration(),
  },
};

export const conditions: ListSchema<Condition> = {
  type: 'array',
  description: 'The state, as of the last look.',
  ...{ maxItems: 16, unique: ['type'], items: condition },
};

export function observedGeneration(): SchemaOf<number> {
  return { type: 'integer', description: 'Generation of the object that was looked at.', minimum: 0 };
}
