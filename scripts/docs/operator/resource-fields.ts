import {
  type CustomResourceDefinition,
  type OpenApiSchema,
  readDefinitions,
} from '../../../src/cluster/resources/definitions.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { cell, code } from './cell.ts';

const definitions = await readDefinitions();

/** Every custom resource with every field that its schema has. */
export function resourceTables(): string[] {
  return definitions.flatMap(({ spec }, index) => [...(index === 0 ? [] : ['']), ...tableOf(spec)]);
}

function tableOf({ names, versions }: CustomResourceDefinition['spec']): string[] {
  const schema = versions[0].schema.openAPIV3Schema;
  const { spec, status } = schema.properties ?? {};
  const rows = [...rowsOf('spec', spec), ...rowsOf('status', status)];
  return [
    `### ${names.kind} (\`${names.shortNames.join(', ')}\`)`,
    '',
    schema.description ?? '',
    '',
    ...markdownTable(['field', 'type', 'meaning'], rows),
  ];
}

/** The fields below one that has some; conditions are those of every Kubernetes object. */
function rowsOf(place: string, schema: OpenApiSchema | undefined): string[][] {
  const required = new Set(schema?.required);
  return Object.entries(schema?.properties ?? {}).flatMap(([name, field]) => {
    const here = `${place}.${name}`;
    const below =
      name === 'conditions' ? [] : rowsOf(`${here}${field.items ? '[]' : ''}`, field.items ?? field);
    return [
      [`${code(here)}${required.has(name) ? ' (required)' : ''}`, typeOf(field), meaningOf(field)],
      ...below,
    ];
  });
}

function typeOf(schema: OpenApiSchema): string {
  const { type, items, additionalProperties, enum: words } = schema;
  if (items !== undefined) return `list of ${typeOf(items)}`;
  if (additionalProperties !== undefined) return `map to ${typeOf(additionalProperties)}`;
  return words === undefined ? type : words.map(code).join(', ');
}

/** Its description, and what the API server says where members do not go together; of texts the type says enough. */
function meaningOf(schema: OpenApiSchema): string {
  const whole = [schema, schema.items].filter((one) => one !== undefined && one.type !== 'string');
  const rules = whole.flatMap((one) => one?.['x-kubernetes-validations'] ?? []);
  return cell([schema.description ?? '', ...rules.map(({ message }) => `${sentence(message)}.`)].join(' '));
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
