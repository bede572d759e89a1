import type { Paint } from '../terminal.ts';

/** A report for people: its sections, as lines each, with an empty line between them. Those without lines are left out. */
export function sectionsText(sections: readonly (readonly string[])[]): string {
  return sections
    .filter(({ length }) => length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** A section with a title above its lines; empty where there are none. */
export function titled(title: string, lines: readonly string[], paint: Paint): readonly string[] {
  return lines.length === 0 ? [] : [paint('bold', title), ...lines];
}
