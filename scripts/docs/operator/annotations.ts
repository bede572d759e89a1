import { type Annotation, annotations } from '../../../src/cluster/injection/resolve/annotations.ts';
import { type Field, fields } from '../../../src/cluster/injection/resolve/requested-settings.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { cell, code } from './cell.ts';

/** Every annotation, how its value is written, and the member of a ServiceConfig that says the same. */
export function annotationTable(): string[] {
  const rows = Object.values<Annotation<unknown>>(annotations).map(({ name, expects, description }) => [
    code(name),
    cell(expects),
    cell(description),
    code(memberOf(name)),
  ]);
  return markdownTable(['annotation', 'value', 'what for', 'in a ServiceConfig'], rows);
}

function memberOf(name: string): string {
  const field = Object.values<Field<unknown>>(fields).find(({ annotation }) => annotation?.name === name);
  return field?.member?.name ?? '';
}
