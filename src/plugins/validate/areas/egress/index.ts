import type { Check } from '../../contract.ts';
import { applied } from './applied.ts';
import { enforced } from './enforced.ts';
import { namesListed } from './names-listed.ts';
import { notWidened } from './not-widened.ts';
import { plugin } from './plugin.ts';

export const egressChecks: readonly Check[] = [applied, notWidened, plugin, enforced, namesListed];
