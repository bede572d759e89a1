import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { containerName, objectName } from '../../../src/cluster/injection/resolve/annotations.ts';
import { type OpenApiSchema, readDefinitions } from '../../../src/cluster/resources/definitions.ts';
import { kvPath, mountPath, roleName, transitKeyName } from '../../../src/keyserver/path.ts';
import type { Parser } from '../../../src/runtime/settings/setting.ts';

const test = suite('texts of custom resources');

/** The rules that are one regular expression, read by JavaScript, whose dialect is the same as far as they go. */
function accepts(schema: OpenApiSchema, text: string): boolean {
  const { 'x-kubernetes-validations': rules = [], maxLength = 0 } = schema;
  if ([...text].length > maxLength || text === '') return false;
  return rules.every(({ rule }) => {
    const [, not, shape = ''] = /^(!?)self\.matches\(r'(.*)'\)$/.exec(rule) ?? assert.unreachable(rule) ?? [];
    return new RegExp(shape.replaceAll('\\pC', '\\p{C}'), 'u').test(text) !== (not === '!');
  });
}

function parses({ parse }: Parser<string>, text: string): boolean {
  try {
    return parse(text) === text;
  } catch {
    return false;
  }
}

const pieces = [
  'a',
  'Z',
  '9',
  '.',
  '..',
  '/',
  '//',
  '-',
  '_',
  ' ',
  '%',
  '?',
  '\\',
  '\n',
  'ß',
  'auth/',
  'x/y',
];
const text = fc
  .oneof(
    fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join('')),
    fc.stringMatching(/^(auth|a)(\/[\w.]{1,4}){0,3}$/),
  )
  .filter((one) => one.trim() === one);

const [serviceConfig] = await readDefinitions();

/** The schema of a field of a ServiceConfig's spec; of a list that of its items. */
function field(...path: readonly string[]): OpenApiSchema {
  let schema = serviceConfig?.spec.versions[0].schema.openAPIV3Schema;
  for (const name of ['spec', ...path]) schema = schema?.properties?.[name];
  if (schema === undefined) throw new Error(`There is no field ${path.join('.')}`);
  return schema.items ?? schema;
}

const pairs: readonly (readonly [string, OpenApiSchema, Parser<string>])[] = [
  ['KV path', field('secretPaths'), kvPath()],
  ['role', field('vault', 'role'), roleName()],
  ['mount', field('vault', 'authMount'), mountPath('auth/')],
  ['key', field('proxy', 'transitKey'), transitKeyName()],
  ['container', field('containers'), containerName()],
  ['object', field('proxy', 'credentialsSecret'), objectName('Secret')],
];

for (const [name, schema, parser] of pairs)
  test(`the API server and the webhook agree on what a ${name} is`, () => {
    fc.assert(
      fc.property(text, (given) => assert.is(accepts(schema, given), parses(parser, given), given)),
      {
        numRuns: 2_000,
      },
    );
  });

test.run();
