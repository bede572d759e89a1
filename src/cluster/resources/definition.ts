/** The definition of one custom resource. */
export interface CustomResource {
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  readonly description: string;
  /** Absent if only the operator writes the resource. */
  readonly spec?: AnySchema;
  readonly status: AnySchema;
  /** Rules for the object as a whole; its name is `self.metadata.name`. */
  readonly rules?: readonly CelRule[];
  readonly columns: readonly PrinterColumn[];
}

/** Column of `kubectl get`; with priority 1 only under `-o wide`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'date';
  readonly jsonPath: string;
  readonly description?: string;
  readonly priority?: 1;
}

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/ */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: {
    readonly name: string;
    readonly annotations: Readonly<Record<string, string>>;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly spec: object;
}

const group = 'svc.io';
/** Uninstalling a chart must not delete what users have written. */
const keep = { 'helm.sh/resource-policy': 'keep' };

export function definitionOf(resource: CustomResource): CustomResourceDefinition {
  const { kind, plural, shortName } = resource;
  const singular = kind.toLowerCase();
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: {
      name: `${plural}.${group}`,
      annotations: keep,
      labels: { 'app.kubernetes.io/name': 'svc', 'app.kubernetes.io/part-of': 'svc' },
    },
    spec: {
      ...{ group, scope: 'Namespaced' },
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames: [shortName], categories },
      versions: [version(resource)],
    },
  };
}

/** Not `svc`: `kubectl get svc` means Services. */
const categories = ['protection'];

function version(resource: CustomResource): object {
  return {
    ...{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } },
    additionalPrinterColumns: [...resource.columns, age],
    schema: { openAPIV3Schema: wholeObject(resource) },
  };
}

const age: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

function wholeObject({ description, spec, status, rules }: CustomResource): OpenApiSchema {
  return {
    ...{ description, type: 'object', required: spec === undefined ? [] : ['spec'] },
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...(spec === undefined ? {} : { spec: openApi(spec) }),
      status: openApi(status),
    },
    ...(rules === undefined ? {} : { 'x-kubernetes-validations': rules }),
  };
}

/**
 * Source: https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/
 * (JSONSchemaProps)
 */
export interface OpenApiSchema {
  readonly type: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly items?: OpenApiSchema;
  readonly additionalProperties?: OpenApiSchema;
  readonly [keyword: string]: unknown;
}

/** Converts to the structural OpenAPI v3 schema that a CustomResourceDefinition needs. */
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

/**
 * Schemas that the compiler checks against a type: a member that is missing, superfluous, unbounded or of another type
 * does not compile. `openApi` converts them for a CustomResourceDefinition.
 */
export type SchemaOf<T> = [T] extends [string]
  ? TextSchema<T>
  : [T] extends [number]
    ? NumberSchema
    : [T] extends [boolean]
      ? FlagSchema
      : [T] extends [readonly (infer E)[]]
        ? ListSchema<E>
        : string extends keyof T
          ? MapSchema<T[keyof T]>
          : ObjectSchema<T>;

interface Described {
  readonly description: string;
  /** Rules in CEL, each with the message for a violation. */
  readonly rules?: readonly CelRule[];
}

export interface CelRule {
  /** True for a valid value. */
  readonly rule: string;
  readonly message: string;
}

/** For an enumeration its words; for other texts a maximum length. */
export type TextSchema<T> = string extends T ? FreeTextSchema : WordSchema<T & string>;

interface FreeTextSchema extends Described {
  readonly type: 'string';
  /** In code points. */
  readonly maxLength: number;
  readonly minLength?: number;
  readonly format?: 'date-time' | 'cidr';
}

interface WordSchema<T extends string> extends Described {
  readonly type: 'string';
  readonly words: { readonly [K in T]: true };
}

export interface NumberSchema extends Described {
  readonly type: 'integer' | 'number';
  readonly minimum: number;
  readonly maximum?: number;
}

export interface FlagSchema extends Described {
  readonly type: 'boolean';
}

export interface ListSchema<E> extends Described {
  readonly type: 'array';
  readonly maxItems: number;
  readonly minItems?: number;
  /** How items are identified: not at all, by the whole item, or by these members. */
  readonly unique: 'no' | 'items' | readonly (keyof E & string)[];
  readonly items: SchemaOf<E>;
}

interface MapSchema<V> extends Described {
  readonly type: 'map';
  readonly maxProperties: number;
  readonly values: SchemaOf<V>;
}

interface ObjectSchema<T> extends Described {
  readonly type: 'object';
  readonly properties: { readonly [K in keyof T]-?: SchemaOf<Exclude<T[K], undefined>> };
  readonly required: { readonly [K in RequiredKeys<T>]: true };
}

type RequiredKeys<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T];

export type AnySchema =
  | FreeTextSchema
  | WordSchema<string>
  | NumberSchema
  | FlagSchema
  | ListSchema<never>
  | MapSchema<never>
  | ObjectSchema<object>;
