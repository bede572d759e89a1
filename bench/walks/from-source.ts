/**
 * Stands before `node bin/run.js …` or `node dist/wrapper.cjs …` and runs the same from src/, so that what ran can be
 * told by source file. SIGUSR2 writes what ran since the start, or since the last one, into NODE_V8_COVERAGE.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { takeCoverage } from 'node:v8';

const root = fileURLToPath(new URL('../..', import.meta.url));

process.on('SIGUSR2', () => takeCoverage());
const at = process.argv.findIndex((argument) => /\/(run\.js|wrapper\.cjs)$/.test(argument));
const args = process.argv.slice(at + 1);
if (process.argv[at]?.endsWith('wrapper.cjs')) {
  process.argv = [process.execPath, `${root}src/wrapper-main.ts`, ...args];
  // it takes all signals for its application, and leaves without Node's own end
  setInterval(takeCoverage, 300).unref();
  await import('../../src/wrapper-main.ts');
} else {
  await runCommand(args);
}

async function runCommand(words: string[]): Promise<void> {
  let path = `${root}src/commands/${words.shift()}`;
  if (!existsSync(`${path}.ts`)) path += `/${words.shift()}`;
  const { default: command } = await import(`${path}.ts`);
  await command.run(words, { root });
}
