import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('package.json');
const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
const { scripts, dependencies, devDependencies, optionalDependencies } = JSON.parse(text);

test('scripts replace the shell that npm starts, which else dies of a signal and leaves them behind', () => {
  for (const [name, command] of Object.entries<string>(scripts)) assert.match(command, /^exec node /, name);
});

test('every package is pinned', () => {
  const all: Record<string, string> = { ...dependencies, ...devDependencies, ...optionalDependencies };
  for (const [name, version] of Object.entries(all)) assert.match(version, /^\d+\.\d+\.\d+$/, name);
});

test.run();
