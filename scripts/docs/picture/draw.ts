import type { Theme } from '../../../bench/harness/chart.ts';
import { escapeXml } from '../../../src/objects/s3/xml-text.ts';
import { type Link, links, type Part, parts, size, type Zone, zones } from './overview.ts';

export function overviewFile(theme: Theme): URL {
  return new URL(`../../../docs/pictures/overview-${theme}.svg`, import.meta.url);
}

/** Colours by what they say; each pair of text and ground has a contrast of 4.5 or more. */
const colours = {
  light: {
    ...{ ground: '#ffffff', text: '#1f2328', quiet: '#57606a', box: '#ffffff', edge: '#8c959f' },
    ...{ untrusted: '#fff1e5', own: '#ddf4ff', node: '#fff8f0', plaintext: '#dafbe1' },
    ...{ plain: '#1a7f37', cipher: '#bc4c00', keys: '#0969da', control: '#57606a' },
  },
  dark: {
    ...{ ground: '#0d1117', text: '#e6edf3', quiet: '#9198a1', box: '#161b22', edge: '#6e7681' },
    ...{ untrusted: '#2b1d12', own: '#0c2236', node: '#21170f', plaintext: '#0f2a17' },
    ...{ plain: '#3fb950', cipher: '#f0883e', keys: '#58a6ff', control: '#9198a1' },
  },
} as const;
type Colours = (typeof colours)[Theme];

/** docs/pictures/overview-<theme>.svg: who talks to whom, and where plaintext ends. */
export function drawOverview(theme: Theme): string {
  const [width, height] = size;
  const c = colours[theme];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" font-size="13">`,
    '<title id="title">Who talks to whom, and where plaintext ends</title>',
    `<desc id="description">${escapeXml(described())}</desc>`,
    `<defs>${(['plaintext', 'ciphertext', 'keys', 'control'] as const).map((kind) => arrowHead(kind, c)).join('')}</defs>`,
    `<rect width="${width}" height="${height}" fill="${c.ground}"/>`,
    ...zones.map((zone) => drawZone(zone, c)),
    ...links.map((link) => drawLine(link, c)),
    ...parts.map((part) => drawPart(part, c)),
    ...links.map((link) => drawLabel(link, c)),
    '</svg>',
    '',
  ].join('\n');
}

function drawZone({ title, at: [x, y, width, height], kind }: Zone, c: Colours): string {
  const edge =
    kind === 'plaintext'
      ? `stroke="${c.plain}" stroke-width="2" stroke-dasharray="7 5"`
      : `stroke="${c.edge}"`;
  return (
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="10" fill="${c[kind]}" ${edge}/>` +
    `<text x="${x + 14}" y="${y + 22}" font-weight="600" fill="${kind === 'plaintext' ? c.plain : c.quiet}">${escapeXml(title)}</text>`
  );
}

function drawPart({ title, lines, at: [x, y, width, height], room }: Part, c: Colours): string {
  const middle = x + width / 2;
  const top = y + height / 2 - (lines.length * 16) / 2 + 3;
  return (
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="${c.box}" stroke="${c.text}" stroke-width="${room ? 2 : 1}"/>` +
    `<text x="${middle}" y="${top}" text-anchor="middle" font-weight="600" font-size="14" fill="${c.text}">${escapeXml(title)}</text>` +
    lines
      .map(
        (line, index) =>
          `<text x="${middle}" y="${top + 17 + index * 15}" text-anchor="middle" font-size="12" fill="${c.quiet}">${escapeXml(line)}</text>`,
      )
      .join('')
  );
}

function drawLine({ points, carries }: Link, c: Colours): string {
  return `<polyline points="${points.map((point) => point.join(',')).join(' ')}" fill="none" stroke="${colourOf(carries, c)}" stroke-width="2" marker-end="url(#${carries})"/>`;
}

function drawLabel({ label, labelAt: [x, y], carries }: Link, c: Colours): string {
  return `<text x="${x}" y="${y}" text-anchor="middle" font-size="12" fill="${colourOf(carries, c)}">${escapeXml(label)}</text>`;
}

function arrowHead(kind: Link['carries'], c: Colours): string {
  return `<marker id="${kind}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="${colourOf(kind, c)}"/></marker>`;
}

function colourOf(kind: Link['carries'], c: Colours): string {
  return { plaintext: c.plain, ciphertext: c.cipher, keys: c.keys, control: c.control }[kind];
}

/** The picture in sentences, for who does not see it. */
function described(): string {
  const title = (id: string) => parts.find((part) => part.id === id)?.title ?? id;
  return links.map(({ from, to, label }) => `${title(from)} to ${title(to)}: ${label}.`).join(' ');
}
