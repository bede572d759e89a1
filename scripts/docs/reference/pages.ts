import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { chartPage } from './chart-page.ts';
import { commandsPage } from './commands-page.ts';
import { endpointsPage } from './endpoints-page.ts';
import { errorsPage } from './errors-page.ts';
import { exitStatusesPage } from './exit-statuses-page.ts';
import { kubernetesPage } from './kubernetes-page.ts';
import { logPage } from './log-page.ts';
import { metricsPage } from './metrics-page.ts';
import { permissionsPage } from './permissions-page.ts';
import { refusalsPage } from './refusals-page.ts';
import { variablesPage } from './variables-page.ts';

type Page = readonly [meaning: string, lines: () => readonly string[] | Promise<readonly string[]>];

export const referenceFolder = new URL('../../../docs/reference/', import.meta.url);

const pages: Readonly<Record<string, Page>> = {
  'commands.md': ['every command, argument and flag', commandsPage],
  'variables.md': [
    'every variable with its flag, values and default, and the configuration file',
    variablesPage,
  ],
  'kubernetes.md': [
    'annotations, labels, members of custom resources, a pod before and after, its bounds, metadata of objects',
    kubernetesPage,
  ],
  'permissions.md': ['what the operator may do in a cluster, and why', permissionsPage],
  'refusals.md': ['messages about pods that are refused or do not start: cause and step', refusalsPage],
  'chart.md': ['every value of the chart', chartPage],
  'metrics.md': ['every metric with its labels, and the alerts', metricsPage],
  'endpoints.md': ['ports, and the paths of health', endpointsPage],
  'exit-statuses.md': ['what a process ends with', exitStatusesPage],
  'log.md': ['every event of the log, with what to do', logPage],
  'errors.md': ['every code of an error with what to do, and the answers of the proxy', errorsPage],
};

/** The text of every page of docs/reference, by its name. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const made = Object.entries(pages).map(async ([name, [, lines]]) => [name, pageOf(await lines())] as const);
  return new Map([
    ['README.md', pageOf(contents(), '[All pages](../README.md)')],
    ...(await Promise.all(made)),
  ]);
}

function contents(): readonly string[] {
  const rows = Object.entries(pages).map(([name, [meaning]]) => [
    `[${name.replace('.md', '')}](${name})`,
    meaning,
  ]);
  return [
    '# Reference',
    '',
    'Written from the code, which a test compares: what is not here is not there.',
    '',
    ...markdownTable(['page', 'what'], rows),
  ];
}

const remark = '<!-- written by `npm run docs`; a test compares it -->';

function pageOf(
  [heading = '', ...lines]: readonly string[],
  way = '[All of the reference](README.md)',
): string {
  return `${[heading, '', way, '', remark, ...lines].join('\n')}\n`;
}
