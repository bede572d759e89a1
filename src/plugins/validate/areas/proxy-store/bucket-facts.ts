import type { CheckContext } from '../../contract.ts';
import { shared } from '../../shared.ts';
import { askStore } from '../../store/failure.ts';

export const factsOf = shared(async (context: CheckContext) => {
  const store = await context.store();
  return askStore(store.direct, 's3:GetBucketVersioning', store.facts(context.signal));
});
