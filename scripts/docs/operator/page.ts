import { alertTable } from './alerts.ts';
import { annotationTable } from './annotations.ts';
import { exampleRegion } from './example.ts';
import { metricTable } from './metrics.ts';
import { permissionTable } from './permissions.ts';
import { withRegions } from './regions.ts';
import { resourceTables } from './resource-fields.ts';
import { scoreTable } from './score.ts';
import { settingTable } from './settings.ts';

export const operatorPage = new URL('../../../docs/OPERATOR.md', import.meta.url);

/** docs/OPERATOR.md with its tables as the code has them now. */
export function withTables(page: string): string {
  return withRegions(page, {
    example: exampleRegion(),
    annotations: annotationTable(),
    resources: resourceTables(),
    score: scoreTable(),
    metrics: metricTable(),
    alerts: alertTable(),
    permissions: permissionTable(),
    settings: settingTable(),
  });
}
