import type { SecretVariables } from '../service-config.ts';
import type { SchemaOf } from './schema-of.ts';
import { kvPath, variableName } from './texts.ts';

/**
 * At most 64 variables in lists of at most 32: more, and the API server finds the rule too costly.
 * Keys of a map have no bound that the API server could reckon with, so the webhook alone judges the fields' names.
 */
export const secretVariables: SchemaOf<SecretVariables> = {
  type: 'object',
  description: 'A KV path and names for its fields.',
  required: { path: true },
  properties: {
    path: kvPath('KV path, such as secret/app.'),
    variables: {
      type: 'map',
      description:
        'Field of the secret to name of the variable; a field that is not named keeps its own name.',
      ...{ maxProperties: 64, values: variableName('Name of the environment variable.') },
      rules: [
        {
          rule: 'self.all(one, self.exists_one(other, self[other] == self[one]))',
          message: 'a variable should be given to one field only',
        },
      ],
    },
  },
};
