import type { Leadership } from '../../../src/plugins/operator/contract.ts';

export interface AdjustableLeadership extends Leadership {
  lead(leading: boolean): void;
}

/** Leads as it is told. */
export function adjustableLeadership(leading: boolean): AdjustableLeadership {
  const handles = new Set<(leading: boolean) => void>();
  let current = leading;
  return {
    get leading() {
      return current;
    },
    onChange(handle) {
      handles.add(handle);
      if (current) handle(true);
      return () => void handles.delete(handle);
    },
    lead(now) {
      if (now === current) return;
      current = now;
      for (const handle of handles) handle(now);
    },
  };
}
