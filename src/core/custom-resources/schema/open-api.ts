import type { AnySchema, CelRule, ListSchema, MapSchema, ObjectSchema, TextSchema } from './schema-of.ts';

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/ (JSONSchemaProps) */
export interface OpenApiSchema {
  readonly type: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema;
  readonly [keyword: string]: unknown;
}

/** A structural schema of OpenAPI v3, as a CustomResourceDefinition takes it. */
export function openApi(schema: AnySchema): OpenApiSchema {
  const { type, description, rules } = schema;
  return {
    description,
    type: type === 'map' ? 'object' : type,
    ...keywordsOf(schema),
    ...(rules === undefined ? {} : { 'x-kubernetes-validations': rules.map(validation) }),
  };
}

const validation = ({ rule, message }: CelRule) => ({ rule, message });

function keywordsOf(schema: AnySchema): object {
  switch (schema.type) {
    case 'string':
      return text(schema);
    case 'array':
      return list(schema);
    case 'map':
      return map(schema);
    case 'object':
      return object(schema);
    case 'boolean':
      return {};
    default:
      return number(schema);
  }
}

function text(schema: TextSchema<string> | Extract<AnySchema, { words: object }>): object {
  if ('words' in schema) return { enum: Object.keys(schema.words) };
  const { maxLength, minLength, format } = schema;
  return defined({ format, minLength, maxLength });
}

function number({ type, minimum, maximum }: Extract<AnySchema, { minimum: number }>): object {
  return defined({ format: type === 'integer' ? 'int64' : undefined, minimum, maximum });
}

function list({ items, minItems, maxItems, unique }: ListSchema<never>): object {
  const kind = unique === 'no' ? 'atomic' : unique === 'items' ? 'set' : 'map';
  return {
    ...defined({ minItems, maxItems, 'x-kubernetes-list-type': kind }),
    ...(kind === 'map' ? { 'x-kubernetes-list-map-keys': unique } : {}),
    items: openApi(items),
  };
}

function map({ maxProperties, values }: MapSchema<never>): object {
  return { maxProperties, additionalProperties: openApi(values) };
}

function object({ properties, required }: ObjectSchema<object>): object {
  const members = Object.entries(properties as Readonly<Record<string, AnySchema>>).map(([name, one]) => [
    name,
    openApi(one),
  ]);
  const names = Object.keys(required);
  return { properties: Object.fromEntries(members), ...(names.length > 0 ? { required: names } : {}) };
}

function defined(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
