import { type ListenAddress, listenAddress } from '../../../src/runtime/settings/listen-address.ts';
import type { Setting } from '../../../src/runtime/settings/setting.ts';
import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { cell, code } from '../operator/cell.ts';
import { commands, typed } from './manifest.ts';
import { settingSets, settingsOf } from './setting-sets.ts';
import { shippedObjects } from './shipped-objects.ts';
import { documentationOf, membersOf } from './source-tree.ts';

/** Every port that is listened on, and every path of the health server. */
export async function endpointsPage(): Promise<string[]> {
  return [
    ...['# Ports and health', '', '## Where components listen', ''],
    ...markdownTable(['command', 'variable', 'default', 'port', 'what for'], await listeners()),
    '',
    'The webhook gives each wrapped container of a pod a port of its own from 8081 on, and the health of the proxy one from',
    '8191 on, beside those that the pod declares.',
    ...['', '## Health', ''],
    ...markdownTable(['path', 'meaning'], healthPaths()),
    '',
    '`GET` and `HEAD`; other methods 405, other paths 404. Bodies are JSON but for `/metrics`.',
    ...['', '## Ports of the chart', ''],
    ...markdownTable(['object', 'port', 'name', 'leads to'], portsOfChart()),
  ];
}

async function listeners(): Promise<string[][]> {
  const sets = await settingSets();
  return commands().flatMap((command) =>
    settingsOf(command, sets)
      .filter(listens)
      .map((setting) => [
        code(typed(command)),
        code(setting.variable),
        code(setting.fallback ?? ''),
        String((setting.parse(setting.fallback ?? '') as ListenAddress).port),
        cell(setting.summary),
      ]),
  );
}

/** Whatever says what it expects as the parser of addresses does. */
const listens = ({ expects, fallback }: Setting<unknown>): boolean =>
  expects.startsWith(listenAddress().expects) && fallback !== undefined;

const healthPaths = (): string[][] =>
  membersOf('src/runtime/health/lean-health-server.ts', 'pages').map((page) => [
    code(page.name.getText().replaceAll("'", '')),
    cell(documentationOf(page)),
  ]);

function portsOfChart(): string[][] {
  return shippedObjects().flatMap(({ kind, metadata, spec }) =>
    [spec?.ports ?? [], ...(spec?.template?.spec.containers ?? []).map(({ ports = [] }) => ports)]
      .flat()
      .map(({ name, port, containerPort, targetPort }) => [
        `${kind} ${code(metadata.name)}`,
        String(port ?? containerPort),
        code(name),
        targetPort === undefined ? '' : code(String(targetPort)),
      ]),
  );
}
