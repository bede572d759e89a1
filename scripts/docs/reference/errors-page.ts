import { errorCatalog } from '../../../src/objects/s3/error.ts';
import { exitStatus } from '../../../src/runtime/errors.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { cell, code, lines } from '../operator/cell.ts';
import { type ErrorFact, errorFacts } from './error-facts.ts';
import { errorFamilies } from './error-families.ts';
import { wordsOf } from './source-tree.ts';

/** Every code of an error, with what is said and what to do. */
export function errorsPage(): string[] {
  return [
    '# Errors',
    '',
    'A failed command shows `Error: <what happened> (<CODE>)`, the details, and `Next:` with what to do; with `--json`, the',
    'same is an object `error`. A component logs the code as `code`. Here, … stands for text that varies, and / separates',
    'the texts of different places. Each code is followed by its exit status, and what happened by the next step.',
    'Commands that check keep the code and end with [statuses of their own](exit-statuses.md#commands-that-check).',
    '',
    ...markdownTable(['code', 'what happened'], rows()),
    '',
    '## Answers of the proxy',
    '',
    'XML in the form of S3. Errors of the object store are passed on.',
    '',
    ...markdownTable(['code', 'HTTP', 'message'], ofProxy()),
    '',
    'The reason for refusing a stored object is in the log and in the label `reason` of `svc_proxy_refused_objects_total`:',
    '',
    ...wordsOf('src/objects/format/cipher.ts', 'EnvelopeFault').map((word) => `- ${code(word)}`),
  ];
}

/** All codes with their places together, sorted. */
export function errorCodes(): ReadonlyMap<string, readonly ErrorFact[]> {
  const facts = [...errorFamilies(), ...errorFacts()];
  const codes = [...new Set(facts.map((fact) => fact.code))].sort();
  return new Map(codes.map((one) => [one, facts.filter((fact) => fact.code === one)]));
}

function rows(): string[][] {
  return [...errorCodes()].map(([name, facts]) => [
    lines(code(name), listed(facts)),
    lines(joined(facts.map(({ message }) => message)), next(joined(facts.map(({ nextStep }) => nextStep)))),
  ]);
}

const listed = (facts: readonly ErrorFact[]): string => {
  const all = facts.flatMap(({ statuses }) => (statuses.length > 0 ? statuses : [exitStatus.failure]));
  return [...new Set(all)].sort((a, b) => a - b).join(', ');
};

const next = (step: string): string => (step === '' ? '' : `→ ${step}`);

const joined = (texts: readonly (string | undefined)[]): string =>
  [...new Set(texts.filter((text) => text !== undefined))].map(cell).join(' / ');

const ofProxy = (): string[][] =>
  Object.entries(errorCatalog).map(([name, [status, message]]) => [
    code(name),
    String(status),
    cell(message),
  ]);
