import { escapeXml } from '../../src/objects/s3/xml-text.ts';
import type { Table } from './bench.ts';

export const themes = ['light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const colours = {
  light: { text: '#1f2328', quiet: '#57606a', own: '#0969da', peer: '#8c959f', aim: '#bc4c00' },
  dark: { text: '#e6edf3', quiet: '#9198a1', own: '#58a6ff', peer: '#6e7681', aim: '#f0883e' },
} as const;

/** Pixels. */
const [labelWidth, barWidth, valueWidth, rowHeight, panelHead] = [310, 360, 90, 22, 34];
const width = labelWidth + barWidth + valueWidth;

interface Panel {
  readonly title: string;
  readonly bars: readonly { readonly name: string; readonly value: number }[];
  /** The row `aim` of the table. */
  readonly aim: number | undefined;
}

/**
 * Horizontal bars, a panel for each column that has figures; the row `aim` becomes a line through its panel. Rows whose
 * names begin with `svc`, or `the same` below one, stand out. Columns without two figures are left out.
 * @returns SVG, or undefined where no column can be drawn
 */
export function drawBars({ title, columns, rows }: Table, theme: Theme): string | undefined {
  const panels = columns.flatMap((column, index) => panelOf(column, rows, index) ?? []);
  if (panels.length === 0) return undefined;
  const c = colours[theme];
  let y = 28;
  const drawn = panels.map((panel) => {
    const at = y;
    y += panelHead + panel.bars.length * rowHeight;
    return drawPanel(panel, at, theme);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 8}" role="img" aria-labelledby="title" font-family="system-ui, sans-serif" font-size="13">`,
    `<title id="title">${escapeXml(title)}</title>`,
    `<text x="0" y="18" font-size="15" font-weight="600" fill="${c.text}">${escapeXml(title)}</text>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}

function panelOf(title: string, rows: Table['rows'], index: number): Panel | undefined {
  const figures = rows.flatMap(({ name, cells }) => {
    const value = cells[index];
    return typeof value === 'number' ? [{ name, value }] : [];
  });
  const bars = figures.filter(({ name }) => !/^aim\b/.test(name));
  if (bars.length < 2) return undefined;
  return { title, bars, aim: figures.find(({ name }) => name === 'aim')?.value };
}

function drawPanel({ title, bars, aim }: Panel, top: number, theme: Theme): string {
  const c = colours[theme];
  const most = Math.max(...bars.map(({ value }) => value), aim ?? 0) || 1;
  const lengthOf = (value: number) => Math.max(1, Math.round((value / most) * barWidth));
  const heading = aim === undefined ? title : `${title} (aim ${aim})`;
  const lines = bars.map(({ name, value }, index) => {
    const y = top + panelHead - 6 + index * rowHeight;
    return (
      `<text x="${labelWidth - 8}" y="${y + 12}" text-anchor="end" fill="${c.text}">${escapeXml(name)}</text>` +
      `<rect x="${labelWidth}" y="${y}" width="${lengthOf(value)}" height="${rowHeight - 6}" fill="${/^(svc|the same)\b/.test(name) ? c.own : c.peer}"/>` +
      `<text x="${labelWidth + lengthOf(value) + 6}" y="${y + 12}" fill="${c.quiet}">${figure(value)}</text>`
    );
  });
  const heightOfBars = bars.length * rowHeight;
  const line =
    aim === undefined
      ? ''
      : `<path d="M${labelWidth + lengthOf(aim)} ${top + panelHead - 10}v${heightOfBars}" stroke="${c.aim}" stroke-width="2" stroke-dasharray="4 3"/>`;
  return `<text x="${labelWidth}" y="${top + 18}" fill="${c.quiet}">${escapeXml(heading)}</text>${lines.join('')}${line}`;
}

function figure(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Math.round(value * 100) / 100);
}
