import { readFileSync } from 'node:fs';

export interface ChartSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, ChartSchema>>;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly items?: ChartSchema;
  readonly properties?: Readonly<Record<string, ChartSchema>>;
  readonly description?: string;
}

const file = new URL('../../../manifests/chart/values.schema.json', import.meta.url);

/** Every value that the schema admits, by its path, with what the schema says of it. */
export function chartSchema(): ReadonlyMap<string, ChartSchema> {
  const schema = JSON.parse(readFileSync(file, 'utf8')) as ChartSchema;
  return new Map(leavesOf(schema, '', schema.$defs ?? {}));
}

function leavesOf(
  schema: ChartSchema,
  path: string,
  known: Readonly<Record<string, ChartSchema>>,
): [string, ChartSchema][] {
  const meant = resolved(schema, known);
  if (meant.properties === undefined) return [[path, meant]];
  return Object.entries(meant.properties).flatMap(([key, inner]) =>
    leavesOf(inner, path === '' ? key : `${path}.${key}`, known),
  );
}

/** What stands beside a reference wins over what it leads to. */
function resolved(schema: ChartSchema, known: Readonly<Record<string, ChartSchema>>): ChartSchema {
  const name = schema.$ref?.replace('#/$defs/', '') ?? '';
  return { ...known[name], ...schema };
}
