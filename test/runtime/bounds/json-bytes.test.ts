import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseBounded, sizeOfJson } from '../../../src/runtime/bounds/bounded-json.ts';
import {
  decodeString,
  JsonError,
  type JsonValue,
  maxDepth,
  readDocument,
  readObject,
} from '../../../src/runtime/bounds/json-document.ts';
import { compact, escapedRuns, JsonView } from '../../../src/runtime/bounds/json-view.ts';

const json = suite('JSON as bytes');

const bytesOf = (text: string): Buffer => Buffer.from(text, 'utf8');
const textOf = (bytes: Uint8Array, { start, end }: JsonValue): string =>
  Buffer.from(bytes.subarray(start, end)).toString('utf8');

function decoded(bytes: Uint8Array, { start, end }: JsonValue): Buffer {
  const into = Buffer.alloc(end - start - 2);
  return into.subarray(0, decodeString(bytes, start, end, into));
}

/** JSON texts with white space and escapes in every place, not only those that JSON.stringify would choose. */
const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc.stringMatching(/^\\u[0-9a-fA-F]{4}$/),
  fc.stringMatching(/^\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}$/),
  fc.constantFrom('\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\"', '\\\\', '😀', 'é', '\u007f'),
);
const stringText = fc.array(piece, { maxLength: 8 }).map((pieces) => `"${pieces.join('')}"`);
const numberText = fc.stringMatching(/^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,3})?$/);
const { document } = fc.letrec<{ document: string; list: string; object: string }>((tie) => ({
  document: fc
    .tuple(
      space,
      fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom('null', 'true', 'false'),
        numberText,
        stringText,
        tie('list'),
        tie('object'),
      ),
      space,
    )
    .map((parts) => parts.join('')),
  list: fc.array(tie('document'), { maxLength: 4 }).map((items) => `[${items.join(',') || ' '}]`),
  object: fc
    .array(fc.tuple(space, stringText, space, tie('document')), { maxLength: 4 })
    .map((members) => `{${members.map(([a, name, b, value]) => `${a}${name}${b}:${value}`).join(',')}}`),
}));

json('accepts what JSON.parse accepts, and says the same of it', () => {
  fc.assert(
    fc.property(document, (text) => {
      const bytes = bytesOf(text);
      const root = readDocument(bytes);
      assert.equal(JSON.parse(textOf(bytes, root)), JSON.parse(text));
      if (root.kind === 'string') assert.equal(decoded(bytes, root), bytesOf(JSON.parse(text)));
      if (root.kind === 'number') assert.is(new JsonView(bytes).number(), JSON.parse(text));
    }),
    { numRuns: 500 },
  );
});

json('accepts a changed text just where JSON.parse does', () => {
  const change = fc.tuple(fc.nat(), fc.constantFrom(...'{}[],:"\\ue+-.019 tn\n\u0001x'));
  fc.assert(
    fc.property(document, change, (text, [where, character]) => {
      const at = where % (text.length + 1);
      const changed = bytesOf(text.slice(0, at) + character + text.slice(at + 1)).toString('utf8');
      assert.is(
        accepts(() => readDocument(bytesOf(changed))),
        accepts(() => JSON.parse(changed)),
        changed,
      );
    }),
    { numRuns: 2_000 },
  );
});

function accepts(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    assert.ok(error instanceof JsonError || error instanceof SyntaxError, String(error));
    return false;
  }
}

json('refuses every truncation', () => {
  const bytes = bytesOf('{"auth":{"client_token":"s.\\u0041\\n😀","n":[1,-2.5e+3,true,null]},"x":{}}');
  readDocument(bytes);
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => readDocument(bytes.subarray(0, length)), isJsonError, `${length}`);
  }
});

const isJsonError = (error: unknown) => error instanceof JsonError;

json('an error has none of the text in it', () => {
  const error = caught(() => readDocument(bytesOf('{"password":hunter2}')));
  assert.ok(isJsonError(error));
  assert.not.match(`${(error as Error).stack}`, /hunter|password/);
  assert.is((error as JsonError).at, 12);
});

function caught(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

json('refuses what is not UTF-8, a mark at the start, and more than one value', () => {
  for (const bytes of [
    Buffer.from([0x22, 0xff, 0x22]),
    Buffer.from([0x22, 0xc3, 0x22]),
    Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
    bytesOf('{}{}'),
    bytesOf('1 2'),
    bytesOf(''),
  ]) {
    assert.throws(() => readDocument(bytes), isJsonError);
  }
});

json('bounds the depth', () => {
  const nested = (levels: number) => bytesOf('['.repeat(levels) + ']'.repeat(levels));
  readDocument(nested(maxDepth));
  assert.throws(() => readDocument(nested(maxDepth + 1)), isJsonError);
  assert.throws(() => readDocument(bytesOf('{"a":'.repeat(200_000))), isJsonError);
});

json('lists the members as JSON.parse would, the last of a name counting', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(stringText, document), { maxLength: 6 }), (members) => {
      const text = `{${members.map(([name, value]) => `${name}:${value}`).join(',')}}`;
      const parsed = new Map<string, unknown>();
      for (const [name, value] of members) parsed.set(wellFormed(JSON.parse(name)), JSON.parse(value));
      const bytes = bytesOf(text);
      const read = readObject(bytes, readDocument(bytes).start);
      assert.equal(new Map(read.map((one) => [one.name, JSON.parse(textOf(bytes, one))])), parsed);
    }),
  );
});

const wellFormed = (text: string): string => Buffer.from(text).toString('utf8');

json('names are names: __proto__, the empty one, escaped ones', () => {
  const bytes = bytesOf('{"__proto__":1,"":2,"k\\u00e9y":3,"a":4,"a":5}');
  const names = readObject(bytes, 0).map(({ name }) => name);
  assert.equal(names, ['__proto__', '', 'kéy', 'a']);
  assert.is(new JsonView(bytes).number('a'), 5);
});

json('looks a path up', () => {
  const text = ' {"auth":{"client_token":"s.x","lease_duration":60,"renewable":true,"no":false}} ';
  const view = new JsonView(bytesOf(text));
  assert.is(view.string('auth', 'client_token'), 's.x');
  assert.is(view.number('auth', 'lease_duration'), 60);
  assert.is(view.isTrue('auth', 'renewable'), true);
  assert.is(view.isTrue('auth', 'no'), false);
  assert.is(view.at('auth', 'absent'), undefined);
  assert.is(view.at('absent', 'client_token'), undefined);
  assert.is(view.at('auth', 'client_token', 'deeper'), undefined);
  assert.is(view.number('auth', 'client_token'), undefined);
  assert.is(view.string('auth'), undefined);
  assert.throws(() => view.members(view.at('auth', 'no') as JsonValue), isJsonError);
});

json('decodes a string in its own place', () => {
  fc.assert(
    fc.property(stringText, (text) => {
      const bytes = bytesOf(text);
      const length = decodeString(bytes, 0, bytes.length, bytes);
      assert.equal(bytes.subarray(0, length), bytesOf(JSON.parse(text)));
    }),
    { numRuns: 500 },
  );
});

/** Values and names, counted in the tree. */
function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const names = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce((sum, one) => sum + partsOf(one), 1 + names);
}

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

json('values, names and levels are counted before anything is built, and bounded', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      const [parts, depth] = [partsOf(JSON.parse(text)), depthOf(value)];
      assert.equal(sizeOfJson(bytesOf(text)), { parts, depth });
      assert.equal(parseBounded(bytesOf(text), { maxParts: parts }), JSON.parse(text));
      assert.throws(() => parseBounded(text, { maxParts: parts - 1 }), /at most \d+ values and names/);
    }),
  );
  assert.throws(() => parseBounded('['.repeat(1_000_000), { maxParts: 2_000_000 }), /at most 100 levels/);
});

json('more members or items than anybody needs are not made into objects', () => {
  const members = Array.from({ length: 10_001 }, (_, index) => `"a${index}":0`);
  const view = new JsonView(bytesOf(`{"many":{${members}},"list":[${Array(10_001).fill(0)}]}`));
  for (const name of ['many', 'list'] as const) {
    const value = view.at(name) as JsonValue;
    assert.throws(
      () => (name === 'many' ? view.members(value) : view.items(value)),
      /expected fewer (members|items)/,
    );
  }
  assert.throws(() => new JsonView(bytesOf(`[${Array(200_001).fill(0)}]`)), /at most 200000 values/);
});

json('compacts in place and touches no string', () => {
  fc.assert(
    fc.property(document, (text) => {
      const bytes = bytesOf(text);
      const root = readDocument(bytes);
      const short = textOf(bytes, { ...root, end: compact(bytes, root) });
      assert.equal(JSON.parse(short), JSON.parse(text));
      assert.not.match(short.replace(/"(\\.|[^"\\])*"/g, ''), /\s/);
      assert.equal(short.match(/"(\\.|[^"\\])*"/g), text.match(/"(\\.|[^"\\])*"/g));
    }),
  );
});

json('escapes printable text for a JSON string', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[\x21-\x7e]{0,40}$/), (text) => {
      const escaped = Buffer.concat([...escapedRuns(bytesOf(text))]).toString();
      assert.is(JSON.parse(`"${escaped}"`), text);
    }),
  );
});

json.run();
