import { readFileSync } from 'node:fs';
import { isMap, isNode, type Node, type Pair, parseDocument, type Scalar } from 'yaml';

export interface ChartValue {
  /** `operator.vaultAddress`. */
  readonly path: string;
  /** As JSON. */
  readonly fallback: string;
  /** The comment before it; undefined where there is none. */
  readonly comment: string | undefined;
  /** That of the nearest map around it that has one. */
  readonly around: string | undefined;
}

const file = new URL('../../../manifests/chart/values.yaml', import.meta.url);

/** Every value of the chart with its default. */
export function chartValues(): readonly ChartValue[] {
  const { contents } = parseDocument(readFileSync(file, 'utf8'));
  return valuesIn('', contents, undefined, undefined);
}

/** A map without members is a value. */
function valuesIn(
  path: string,
  node: Node | null,
  comment: string | undefined,
  around: string | undefined,
): ChartValue[] {
  if (!isMap(node) || node.items.length === 0)
    return [{ path, fallback: JSON.stringify(node), comment, around }];
  return node.items.flatMap((pair, index) => {
    const { key, value } = pair as Pair<Scalar<string>>;
    // the comment of the first member is kept by the map
    const own = key.commentBefore ?? (index === 0 ? node.commentBefore : undefined);
    const inner = path === '' ? key.value : `${path}.${key.value}`;
    return valuesIn(inner, isNode(value) ? value : null, lastParagraph(own), comment ?? around);
  });
}

const lastParagraph = (comment: string | null | undefined): string | undefined =>
  comment
    ?.split(/\n\s*\n/)
    .at(-1)
    ?.trim();
