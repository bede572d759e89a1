import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { containerName, objectName } from '../../../src/cluster/injection/resolve/annotations.ts';
import type { TextSchema } from '../../../src/cluster/resources/definition.ts';
import * as texts from '../../../src/cluster/resources/schema-parts.ts';
import { kvPath, mountPath, roleName, transitKeyName } from '../../../src/keyserver/path.ts';
import type { Parser } from '../../../src/runtime/settings/setting.ts';

const test = suite('texts of custom resources');

/** The rules that are one regular expression, read by JavaScript, whose dialect is the same as far as they go. */
function accepts({ rules = [], maxLength }: TextSchema<string>, text: string): boolean {
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

const pairs: readonly (readonly [string, TextSchema<string>, Parser<string>])[] = [
  ['KV path', texts.kvPath('x'), kvPath()],
  ['role', texts.roleName('x'), roleName()],
  ['mount', texts.mountPath('x'), mountPath('auth/')],
  ['key', texts.transitKeyName('x'), transitKeyName()],
  ['container', texts.containerName('x'), containerName()],
  ['object', texts.objectName('x'), objectName('Secret')],
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
