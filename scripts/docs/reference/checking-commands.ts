import { readFileSync } from 'node:fs';
import { commands, typed } from './manifest.ts';

/** Commands with the statuses of checks, as they are typed. */
export function checkingCommands(): readonly string[] {
  return commands()
    .filter(({ id }) => /\b(?:CheckCommand|asCheckError)\b/.test(sourceOfCommand(id)))
    .map(typed);
}

function sourceOfCommand(id: string): string {
  const folder = new URL('../../../src/commands/', import.meta.url);
  const path = id === 'run' ? 'run/index' : id.replaceAll(':', '/');
  return readFileSync(new URL(`${path}.ts`, folder), 'utf8');
}
