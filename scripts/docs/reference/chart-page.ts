import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { cell, code, codes, lines } from '../operator/cell.ts';
import { type ChartSchema, chartSchema } from './chart-schema.ts';
import { chartValues } from './chart-values.ts';

/** Every value of the chart. */
export function chartPage(): string[] {
  return [
    '# Values of the chart',
    '',
    'Of `manifests/chart`; an unknown value is refused. [Installing](../INSTALL.md) says which of them to think about.',
    '',
    ...markdownTable(['value', 'type, default', 'meaning'], rows()),
  ];
}

/** @throws Error where a value has neither comment nor description */
function rows(): string[][] {
  const schema = chartSchema();
  return chartValues().map(({ path, fallback, comment, around }) => {
    const known = schema.get(path) ?? {};
    const meaning = comment ?? known.description ?? around;
    if (meaning === undefined) throw new Error(`nothing says what the value ${path} is`);
    return [code(path), lines(typeOf(known), `default: ${code(fallback)}`), cell(meaning)];
  });
}

function typeOf({ enum: words, type = 'any', items }: ChartSchema): string {
  if (words !== undefined) return codes(words);
  if (items !== undefined) return `list of ${typeOf(items)}`;
  return typeof type === 'string' ? type : type.map((one) => (one === 'null' ? 'unset' : one)).join(' or ');
}
