import type { Table } from '../../../bench/harness/bench.ts';
import { formatTable } from '../../../bench/harness/table.ts';
import { inMib } from '../support/figures.ts';
import { requestsOf, type Stage } from './stages.ts';

type Server = 'store' | 'keyServer';

/** How long each stage took, and where it was counted what it asked of both servers. */
export function stageTables(stages: readonly Stage[]): string {
  const tables = [times(stages)];
  if (stages.some(({ store }) => store)) {
    tables.push(requests('Requests to the store', stages, 'store'));
    tables.push(requests('Requests to the key server', stages, 'keyServer'));
  }
  return tables.map(formatTable).join('\n\n');
}

const names = (stages: readonly Stage[]) => stages.map(({ name }) => name);

function times(stages: readonly Stage[]): Table {
  const seconds = stages.map((stage) => stage.seconds);
  const peaks = stages.map(({ peak }) => inMib(peak));
  const rows = [
    { name: 'seconds', cells: seconds },
    { name: 'peak resident so far', cells: peaks },
  ];
  return { title: 'Time and memory', columns: names(stages), rows };
}

function requests(title: string, stages: readonly Stage[], server: Server): Table {
  const kinds = new Set(stages.flatMap((stage) => [...(stage[server]?.keys() ?? [])]));
  const rows = [...kinds].map((name) => ({ name, cells: stages.map((stage) => stage[server]?.get(name)) }));
  const all = { name: 'all', cells: stages.map((stage) => requestsOf(stage[server])) };
  return { title, columns: names(stages), rows: [...rows, all] };
}
