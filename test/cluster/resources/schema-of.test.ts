import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AnySchema, openApi, type SchemaOf } from '../../../src/cluster/resources/definition.ts';

const test = suite('schemas held to types');

interface Example {
  readonly name: string;
  readonly kind?: 'a' | 'b';
  readonly size?: number;
  readonly on?: boolean;
  readonly items?: readonly { readonly id: string }[];
  readonly labels?: Readonly<Record<string, string>>;
}

const text = { type: 'string', description: 'x', maxLength: 9 } as const;
const members = {
  name: text,
  kind: { type: 'string', description: 'x', words: { a: true, b: true } },
  size: { type: 'integer', description: 'x', minimum: 0 },
  on: { type: 'boolean', description: 'x' },
  items: {
    type: 'array',
    description: 'x',
    maxItems: 3,
    unique: ['id'],
    items: { type: 'object', description: 'x', properties: { id: text }, required: { id: true } },
  },
  labels: { type: 'map', description: 'x', maxProperties: 2, values: text },
} as const;
const whole: SchemaOf<Example> = {
  ...{ type: 'object', description: 'x', properties: members, required: { name: true } },
  rules: [{ rule: 'true', message: 'is true' }],
};

test('a schema becomes what a definition has', () => {
  const name = { type: 'string', description: 'x', maxLength: 9 };
  assert.equal(openApi(whole as AnySchema), {
    ...{ type: 'object', description: 'x', required: ['name'] },
    properties: {
      name,
      kind: { type: 'string', description: 'x', enum: ['a', 'b'] },
      size: { type: 'integer', description: 'x', format: 'int64', minimum: 0 },
      on: { type: 'boolean', description: 'x' },
      items: {
        ...{ type: 'array', description: 'x', maxItems: 3 },
        ...{ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['id'] },
        items: { type: 'object', description: 'x', properties: { id: name }, required: ['id'] },
      },
      labels: { type: 'object', description: 'x', maxProperties: 2, additionalProperties: name },
    },
    'x-kubernetes-validations': [{ rule: 'true', message: 'is true' }],
  });
});

/** Nothing to run: `tsc` complains where one of these compiles. */
test('the compiler refuses what differs from the type', () => {
  const { name: _, ...rest } = members;
  const head = { type: 'object', description: 'x' } as const;
  const required = { name: true } as const;
  const refused: readonly SchemaOf<Example>[] = [
    // @ts-expect-error a member is missing
    { ...head, required, properties: rest },
    // @ts-expect-error a member that the type has not
    { ...head, required, properties: { ...members, nmae: text } satisfies typeof whole.properties },
    // @ts-expect-error of another type
    { ...head, required, properties: { ...members, size: text } },
    // @ts-expect-error a text without a bound
    { ...head, required, properties: { ...members, name: { type: 'string', description: 'x' } } },
    // @ts-expect-error without a description
    { ...head, required, properties: { ...members, on: { type: 'boolean' } } },
    // @ts-expect-error a list without a bound
    { ...head, required, properties: { ...members, items: { ...members.items, maxItems: undefined } } },
    // @ts-expect-error a list whose items are told apart by what they have not
    { ...head, required, properties: { ...members, items: { ...members.items, unique: ['key'] } } },
    // @ts-expect-error a word is missing
    { ...head, required, properties: { ...members, kind: { ...members.kind, words: { a: true } } } },
    // @ts-expect-error a required member is not said to be
    { ...head, required: {}, properties: members },
    // @ts-expect-error an optional member is said to be required
    { ...head, required: { name: true, size: true }, properties: members },
  ];
  assert.is(refused.length, 10);
});

test.run();
