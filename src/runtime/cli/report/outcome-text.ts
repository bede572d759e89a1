import type { Outcome } from '../../../core/checks/contract.ts';
import type { Paint } from '../terminal.ts';
import { wrapped } from './wrap.ts';

const words = {
  passed: 'Passed.',
  failed: 'Failed:',
  warnings: 'Warnings:',
  'not-evaluated': 'Not passed:',
} as const;
const styles = { passed: 'green', failed: 'red', warnings: 'yellow', 'not-evaluated': 'red' } as const;

const width = 98;

/** Lines of at most 98 columns. */
export function outcomeText(outcome: Outcome, paint: Paint): string {
  const head = words[outcome.result];
  const text = wrapped(outcomeLine(outcome), width, '  ');
  return paint(styles[outcome.result], head) + text.slice(head.length);
}

/** The same in one line, however long it is. */
export const outcomeLine = ({ result, reasons }: Outcome): string => [words[result], ...reasons].join(' ');
