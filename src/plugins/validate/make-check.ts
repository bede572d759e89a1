import type { Level } from '../../runtime/report/check-outcome.ts';
import type { Area, Check, CheckContext, CheckResult, Need } from './check.ts';

/** Which area an id belongs to. */
const areas = {
  CONFIG: 'configuration',
  VAULT: 'secrets-server',
  KEK: 'kek',
  CLUSTER: 'cluster',
  NET: 'connectivity',
  OPERATOR: 'operator',
  AGENT: 'agent',
  EGRESS: 'egress',
  STORE: 'proxy-store',
  RECOVERY: 'recovery',
  HOST: 'host',
} as const satisfies Readonly<Record<string, Area>>;

type Prefix = keyof typeof areas;
type CheckId = `SVC-${Prefix}-${string}`;

const areaOf = (id: CheckId): Area => areas[id.split('-', 2)[1] as Prefix];

/** For people, and how long the check may take. */
type Facts = Pick<Check, 'title' | 'cause' | 'fix' | 'timeoutMs' | 'undoMs'>;

const checkNeeding =
  (needs: Need) =>
  (id: CheckId, level: Level, facts: Facts & Pick<Check, 'run'>): Check => ({
    ...facts,
    id,
    area: areaOf(id),
    level,
    needs,
  });

export const localCheck = checkNeeding('none');
export const clusterCheck = checkNeeding('cluster');
export const storeCheck = checkNeeding('store');

interface Judging<T> extends Facts {
  run(found: T, context: CheckContext, signal: AbortSignal): CheckResult | Promise<CheckResult>;
}

/** Makes checks that judge the same. @param gather gets it, or throws Skipped or NotEvaluated */
export const checkOf =
  <T>(needs: Need, gather: (context: CheckContext) => T | Promise<T>) =>
  (id: CheckId, level: Level, { run, ...facts }: Judging<T>): Check =>
    checkNeeding(needs)(id, level, {
      ...facts,
      run: async (context, signal) => run(await gather(context), context, signal),
    });

/** A check of the configured secrets server. */
export const vaultCheck = checkOf('vault', (context) => context.vault());
