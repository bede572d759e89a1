import type { CelRule, ListSchema, SchemaOf, TextSchema } from './definition.ts';
import type { Condition, SecretVariables } from './resources.ts';

type Text = TextSchema<string>;

/** A text of any shape, for people to read. */
export const prose = (description: string, maxLength = 4_096): Text => ({
  ...{ type: 'string', description, maxLength },
});

export const timestamp = (description: string): Text => ({
  ...{ type: 'string', description, format: 'date-time', maxLength: 64 },
});

/** As in src/keyserver, and usable as an item of a comma-separated list. */
export const kvPath = (description: string): Text => ({
  ...{ type: 'string', description, minLength: 3, maxLength: 512 },
  rules: [
    matches(String.raw`^[^/,?#%\\\pC]+(/[^/,?#%\\\pC]+)+$`, 'should be a KV path such as secret/app'),
    matches(String.raw`^\S(.*\S)?$`, 'should have no blanks at its ends'),
    not(matches(String.raw`(^|/)\.\.?(/|$)`, 'should have no segments . or ..')),
  ],
});

export const roleName = (description: string): Text => ({
  ...{ type: 'string', description, minLength: 1, maxLength: 128 },
  rules: [
    matches(String.raw`^[\w.-]+$`, 'should be a role name'),
    not(matches(String.raw`^\.\.?$`, 'should not be . or ..')),
  ],
});

export const mountPath = (description: string): Text => ({
  ...{ type: 'string', description, maxLength: 256 },
  rules: [
    matches(String.raw`^auth(/[\w.-]+)+$`, 'should be a path below auth/, such as auth/kubernetes'),
    not(matches(String.raw`/\.+(/|$)`, 'should have no segments of dots alone')),
  ],
});

export const transitKeyName = (description: string): Text => ({
  ...{ type: 'string', description, minLength: 1, maxLength: 128 },
  rules: [
    matches(String.raw`^[\w.-]+$`, 'should be a key name'),
    not(matches(String.raw`^\.\.?$`, 'should not be . or ..')),
  ],
});

/** The API server cannot verify checksums of `age1…`; the webhook does. */
export const recipient = (description: string): Text => ({
  ...{ type: 'string', description, minLength: 44, maxLength: 62 },
  rules: [
    matches(
      '^(age1[02-9ac-hj-np-z]{58}|[A-Za-z0-9+/]{43}=)$',
      'should be a public key, age1… or 32 bytes in base64',
    ),
  ],
});

export const httpUrl = (description: string): Text => ({
  ...{ type: 'string', description, maxLength: 512 },
  rules: [
    {
      rule: String.raw`isURL(self) && self.matches(r'^(?i:https?)://[^\s/?#@\\]+(/[^\s?#\\]*)?$')`,
      message: 'should be an http:// or https:// URL without credentials, query or fragment',
    },
  ],
});

/** For servers that receive tokens or secrets. */
export function encryptedUrl(description: string): Text {
  const shape = httpUrl(description);
  const loopback = String.raw`(?i)^http://(localhost|127(\.[0-9]{1,3}){3}|\[::1\])([:/]|$)`;
  const encrypted = {
    rule: `!self.matches('(?i)^http:') || self.matches(r'${loopback}')`,
    message: 'must be https:// (http:// is accepted for loopback addresses only)',
  };
  return { ...shape, rules: [...(shape.rules ?? []), encrypted] };
}

export const duration = (description: string): Text => ({
  ...{ type: 'string', description, minLength: 2, maxLength: 32 },
  rules: [
    {
      rule: "duration(self) >= duration('1s') && duration(self) <= duration('596h')",
      message: 'should be a duration such as 30s, 5m or 1h30m, from 1s to 596h',
    },
  ],
});

/** As pods may name variables. */
export const variableName = (description: string): Text => ({
  ...{ type: 'string', description, minLength: 1, maxLength: 128 },
  rules: [
    matches(
      String.raw`^[A-Za-z_.-][\w.-]*$`,
      'should be the name of a variable of letters, digits, _, - and ., not led by a digit',
    ),
  ],
});

/** A DNS label. */
export const containerName = (description: string): Text => ({
  ...{ type: 'string', description, minLength: 1, maxLength: 63 },
  rules: [matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'should be the name of a container')],
});

/** A DNS subdomain. */
export const objectName = (description: string): Text => ({
  ...{ type: 'string', description, minLength: 1, maxLength: 253 },
  rules: [
    matches(
      String.raw`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`,
      'should be the name of an object',
    ),
  ],
});

/** A ConfigMap and a key in it, or nothing. */
export const configMapKey = (description: string): Text => ({
  ...{ type: 'string', description, maxLength: 507 },
  rules: [
    matches(
      String.raw`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(/[\w-][-\w.]*)?)?$`,
      'should be the name of a ConfigMap, or <name>/<key>, or empty',
    ),
  ],
});

/** A host name or an address. */
export const hostName = (description: string): Text => ({
  ...{ type: 'string', description, minLength: 1, maxLength: 253 },
  rules: [
    matches(
      String.raw`^([A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?)(\.[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?)*$`,
      'should be a host name, without scheme, port or path',
    ),
  ],
});

function matches(shape: string, message: string): CelRule {
  return { rule: `self.matches(r'${shape}')`, message };
}

function not({ rule, message }: CelRule): CelRule {
  return { rule: `!${rule}`, message };
}

const condition: SchemaOf<Condition> = {
  type: 'object',
  description: 'One aspect of the state.',
  required: { type: true, status: true, reason: true, message: true, lastTransitionTime: true },
  properties: {
    type: prose('Which aspect, such as Ready.', 316),
    status: {
      type: 'string',
      description: 'Whether it is met.',
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
  description: 'The state, as last evaluated.',
  ...{ maxItems: 16, unique: ['type'], items: condition },
};

export function observedGeneration(): SchemaOf<number> {
  return { type: 'integer', description: 'Latest generation that the operator evaluated.', minimum: 0 };
}

/** For names in a map: a schema cannot bound their length, and its cost estimate leaves no rule but one about size. */
export const namesUpTo = (length: number, what: string): CelRule => ({
  rule: `self.all(name, size(name) <= ${length})`,
  message: `${what} should have at most ${length} characters`,
});

/**
 * At most 64 variables in lists of at most 32; with more, the API server rejects the rule as too costly. Map keys have
 * no bound for its cost estimate, so only the webhook validates what field names consist of.
 */
export const secretVariables: SchemaOf<SecretVariables> = {
  type: 'object',
  description: 'A KV path and names for its fields.',
  required: { path: true },
  properties: {
    path: kvPath('KV path, such as secret/app.'),
    variables: {
      type: 'map',
      description: 'Maps fields of the secret to names of variables; other fields keep their own names.',
      ...{ maxProperties: 64, values: variableName('Name of the environment variable.') },
      rules: [
        {
          rule: 'self.all(one, self.exists_one(other, self[other] == self[one]))',
          message: 'a variable should be given to one field only',
        },
        namesUpTo(512, 'the name of a field'),
      ],
    },
  },
};
