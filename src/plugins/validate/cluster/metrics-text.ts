export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * The samples of one metric out of a page of them.
 * Source: https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function samplesOf(page: string, metric: string): readonly Sample[] {
  return page.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    return name === metric ? [{ labels: labelsIn(labels), value: Number(value) }] : [];
  });
}

function labelsIn(text: string): Readonly<Record<string, string>> {
  const pairs = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, value]));
}

/** Undefined where the page has none of that metric. */
export function sumOf(
  page: string,
  metric: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const all = samplesOf(page, metric);
  if (all.length === 0) return undefined;
  const wanted = Object.entries(labels);
  return all
    .filter((sample) => wanted.every(([name, value]) => sample.labels[name] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
