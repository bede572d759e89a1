import type { Check, CheckContext, CheckResult } from '../../contract.ts';
import type { VaultAccess } from '../../vault/contract.ts';

type Facts = Omit<Check, 'area' | 'needs' | 'run'>;
type Look = (vault: VaultAccess, context: CheckContext, signal: AbortSignal) => Promise<CheckResult>;

/** A check of the secrets server that is named. */
export function vaultCheck(facts: Facts, look: Look): Check {
  return {
    ...facts,
    area: 'secrets-server',
    needs: 'vault',
    run: async (context, signal) => look(await context.vault(), context, signal),
  };
}
