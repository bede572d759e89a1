import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { LabelRequirement } from '../../../src/cluster/kube/labels.ts';
import {
  definitionFolder,
  type OpenApiSchema,
  readDefinitions,
} from '../../../src/cluster/resources/definitions.ts';
import type {
  Condition,
  EgressDestination,
  ResourceDelivery,
  RotationMode,
} from '../../../src/cluster/resources/resources.ts';
import { packageFolder } from '../../../src/runtime/component/package-folder.ts';
import {
  fullReportStatus,
  fullSecretMapping,
  fullSecretMappingStatus,
  fullServiceConfig,
  fullServiceConfigStatus,
} from './examples.ts';

const test = suite('definitions of custom resources');
const definitions = await readDefinitions();
const folder = new URL(definitionFolder, packageFolder());

const examples: Readonly<Record<string, object>> = {
  ServiceConfig: { spec: fullServiceConfig, status: fullServiceConfigStatus },
  SecretMapping: { spec: fullSecretMapping, status: fullSecretMappingStatus },
  ProtectionReport: { status: fullReportStatus },
};
/** The members of every Kubernetes object. */
const envelope = ['apiVersion', 'kind', 'metadata'];

test('each file of the chart is read', () => {
  const names = definitions.map(({ metadata }) => `${metadata.name.replace('.svc.io', '')}.yaml`);
  assert.equal(names.sort(), readdirSync(folder).sort());
});

test('their fields are those of the types', () => {
  for (const { spec } of definitions) {
    const schema = spec.versions[0].schema.openAPIV3Schema;
    const fields = fieldsOf(schema).filter((name) => !envelope.includes(name));
    assert.equal(fields, [...new Set(pathsOf(examples[spec.names.kind], schema))].sort(), spec.names.kind);
  }
});

/** The words that each type permits: the compiler demands them all, and no other. */
const words: Readonly<Record<string, object>> = {
  rotation: { restart: true, sighup: true, none: true } satisfies Record<RotationMode, true>,
  delivery: { both: true, env: true, fd: true } satisfies Record<ResourceDelivery, true>,
  protocol: { TCP: true, UDP: true } satisfies Record<NonNullable<EgressDestination['protocol']>, true>,
  operator: { In: true, NotIn: true, Exists: true, DoesNotExist: true } satisfies Record<
    LabelRequirement['operator'],
    true
  >,
  status: { True: true, False: true, Unknown: true } satisfies Record<Condition['status'], true>,
};

test('their words are those of the types', () => {
  for (const { spec } of definitions)
    for (const [name, list] of enumerationsOf(spec.versions[0].schema.openAPIV3Schema))
      assert.equal(list, Object.keys(words[name] ?? {}), name);
});

test('everything is described, and bounded for the cost estimate of the rules', () => {
  for (const { spec } of definitions) {
    const { properties } = spec.versions[0].schema.openAPIV3Schema;
    for (const [place, schema] of Object.entries(properties ?? {}))
      if (!envelope.includes(place)) assertBounded(`${spec.names.kind}.${place}`, schema);
  }
});

test('a chart that is uninstalled leaves them', () => {
  for (const { metadata } of definitions) assert.is(metadata.annotations['helm.sh/resource-policy'], 'keep');
});

test('Helm reads nothing of its own in them', () => {
  for (const name of readdirSync(folder))
    assert.not.match(readFileSync(new URL(name, folder), 'utf8'), '{{', name);
});

/** The paths of all fields that a schema has, lists and maps as `[]`. */
function fieldsOf(schema: OpenApiSchema, place = ''): readonly string[] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    `${place}${name}`,
    ...fieldsOf(field, `${place}${name}.`),
  ]);
  const item = schema.items ?? schema.additionalProperties;
  return [...members, ...(item === undefined ? [] : fieldsOf(item, `${place}[].`))].sort();
}

/** The fields that permit only certain words, by name. */
function enumerationsOf({ properties = {}, items }: OpenApiSchema): readonly [string, readonly string[]][] {
  const own = Object.entries(properties).flatMap(([name, field]): [string, readonly string[]][] => [
    ...(field.enum === undefined ? [] : [[name, field.enum] as [string, readonly string[]]]),
    ...enumerationsOf(field),
  ]);
  return [...own, ...(items === undefined ? [] : enumerationsOf(items))];
}

/** The paths of all fields that an object has; the names in a map are no fields. */
function pathsOf(value: unknown, schema: OpenApiSchema | undefined, place = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const item = schema?.items ?? schema?.additionalProperties;
  if (Array.isArray(value) || item !== undefined)
    return Object.values(value).flatMap((one) => pathsOf(one, item, `${place}[].`));
  return Object.entries(value).flatMap(([name, one]) => [
    `${place}${name}`,
    ...pathsOf(one, schema?.properties?.[name], `${place}${name}.`),
  ]);
}

function assertBounded(place: string, schema: OpenApiSchema): void {
  const { type, description, items, additionalProperties, properties = {} } = schema;
  assert.ok(description, `${place}: description`);
  if (type === 'string') assert.ok(schema.enum ?? schema.maxLength, `${place}: maxLength`);
  if (type === 'array') assert.ok(schema.maxItems, `${place}: maxItems`);
  if (additionalProperties !== undefined) assert.ok(schema.maxProperties, `${place}: maxProperties`);
  for (const [name, field] of Object.entries(properties)) assertBounded(`${place}.${name}`, field);
  const item = items ?? additionalProperties;
  if (item !== undefined) assertBounded(`${place}[]`, item);
}

test.run();
