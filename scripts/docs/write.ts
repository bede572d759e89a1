import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { themes } from '../../bench/harness/chart.ts';
import { checks } from '../../src/plugins/validate/registry.ts';
import { idsFile, knownIds } from '../../test/plugins/validate/known-ids.ts';
import { attackPathsFile, attackPathsPage } from './attack-paths-page.ts';
import { charts } from './charts.ts';
import { checksPage, renderChecks } from './checks/page.ts';
import * as clients from './clients-page.ts';
import { conformanceFile, conformancePage } from './conformance-page.ts';
import * as operator from './operator/page.ts';
import { drawOverview, overviewFile } from './picture/draw.ts';
import { referenceFolder, referencePages } from './reference/pages.ts';
import * as wrapper from './wrapper/page.ts';

/** `npm run docs`: writes every page, or part of a page, that comes from the code. A test compares each. */
writeFileSync(checksPage, renderChecks());
writeFileSync(idsFile, idsOfChecks());
writeFileSync(attackPathsFile, attackPathsPage());
writeFileSync(conformanceFile, conformancePage());
rewrite(operator.operatorPage, operator.withTables);
rewrite(wrapper.wrapperPage, wrapper.withTables);
rewrite(clients.clientsPage, clients.withTables);
for (const theme of themes) writeFileSync(overviewFile(theme), drawOverview(theme));
for (const [file, svg] of charts()) writeFileSync(file, svg);
mkdirSync(referenceFolder, { recursive: true });
for (const [name, text] of await referencePages()) writeFileSync(new URL(name, referenceFolder), text);

function rewrite(page: URL, change: (text: string) => string): void {
  writeFileSync(page, change(readFileSync(page, 'utf8')));
}

/** Every id of a check that there ever was: an id is never given twice. */
function idsOfChecks(): string {
  const current = new Set(checks.map(({ id }) => id));
  const all = [...new Set([...knownIds().map(({ id }) => id), ...current])].filter((id) => id !== '').sort();
  return all.map((id) => (current.has(id) ? `${id}\n` : `${id} retired\n`)).join('');
}
