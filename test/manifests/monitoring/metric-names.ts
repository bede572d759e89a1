import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../../../src/', import.meta.url));
const DECLARATION = /\.(counter|gauge|histogram)\(\s*'([a-z_0-9]+)'/g;

/** Metrics that are declared in src/, a histogram's series included. */
export function declaredMetrics(): Set<string> {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const text = files.map((name) => readFileSync(join(SOURCES, name), 'utf8')).join('\n');
  return new Set([...text.matchAll(DECLARATION)].flatMap(([, kind, name = '']) => seriesOf(kind, name)));
}

function seriesOf(kind: string | undefined, name: string): string[] {
  return kind === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name];
}

/** Names of metrics in PromQL: words before a selector, range, or the end, that are no function, label or keyword. */
export function metricsIn(query: string): string[] {
  const bare = query
    .replace(/"[^"]*"/g, '""')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, '');
  return (bare.match(/[a-z_][a-z_0-9]*\b(?!\s*\()/g) ?? []).filter((word) => word.includes('_'));
}
