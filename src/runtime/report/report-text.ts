import type { Paint } from '../cli/terminal.ts';
import type { CheckOutcome } from './check-outcome.ts';

const words = {
  passed: 'Passed.',
  failed: 'Failed:',
  warnings: 'Warnings:',
  'not-evaluated': 'Not passed:',
} as const;
const styles = { passed: 'green', failed: 'red', warnings: 'yellow', 'not-evaluated': 'red' } as const;

/** Columns of a report for people. */
export const reportWidth = 98;

/** Wraps at the width of a report. */
export function outcomeText(outcome: CheckOutcome, paint: Paint): string {
  const head = words[outcome.result];
  const text = wrapped(outcomeLine(outcome), reportWidth, '  ');
  return paint(styles[outcome.result], head) + text.slice(head.length);
}

/** The outcome as one line of any length. */
export const outcomeLine = ({ result, reasons }: CheckOutcome): string =>
  [words[result], ...reasons].join(' ');

/**
 * Escapes characters of foreign text, such as keys and messages, that a terminal would interpret or that would mislead
 * a reader.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

/** A report for people: sections of lines, separated by empty lines. Empty sections are left out. */
export function sectionsText(sections: readonly (readonly string[])[]): string {
  return sections
    .filter(({ length }) => length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** A section with a title; empty if there are no lines. */
export function titled(title: string, lines: readonly string[], paint: Paint): readonly string[] {
  return lines.length === 0 ? [] : [paint('bold', title), ...lines];
}

/** Wraps at `width` columns and indents further lines; a longer word gets its own line. */
export function wrapped(text: string, width: number, indent: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (longer.length <= width || line === '') line = longer;
    else {
      lines.push(line);
      line = indent + word;
    }
  }
  return [...lines, line].join('\n');
}
