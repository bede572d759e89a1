import type { Check } from '../contract.ts';
import type { Area } from '../settings.ts';

export interface Selection {
  /** Without a cluster. */
  readonly pre: boolean;
  /** This machine, as a node. */
  readonly node: boolean;
  readonly areas: readonly Area[];
  readonly ids: readonly string[];
}

/**
 * Areas and ids name exactly what is checked. Without them: `node` is the machine, `pre` all that needs no cluster, both
 * are both, and neither is everything but the machine.
 */
export function selected(checks: readonly Check[], selection: Selection): readonly Check[] {
  const { pre, node, areas, ids } = selection;
  const named = areas.length + ids.length > 0;
  return checks.filter((check) => {
    const { id, area, needs } = check;
    if (pre && needs === 'cluster') return false;
    if (named) return areas.includes(area) || ids.includes(id);
    if (area === 'host') return node;
    return pre || !node;
  });
}

/**
 * With the check that tells of mistaken variables, whatever was selected: they count as not given, so that the others
 * would look at what nobody meant. Checks of the machine need none of them.
 */
export function tellingOfMistakes(
  some: readonly Check[],
  checks: readonly Check[],
  mistakes: readonly string[],
): readonly Check[] {
  const concerned = some.some(({ needs }) => needs !== 'none' && needs !== 'node');
  if (mistakes.length === 0 || !concerned) return some;
  return checks.filter((check) => check.id === mistakesCheck || some.includes(check));
}

const mistakesCheck = 'SVC-CONFIG-001';
