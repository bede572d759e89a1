import { startLineProcess } from '../../../../support/bypass/line-process.ts';
import type { Place } from './place.ts';
import type { Session } from './session.ts';

/** No agent at all. */
export const unprotected: Session = {
  facts: { tier: 4, enforcing: false },
  kills: false,
  hits: [],
  place: async () => nowhere,
  counted: async () => ({}),
  held: () => 0,
  close: async () => {},
};

const nowhere: Place = {
  start: startLineProcess,
  protect: async () => undefined,
  end: async () => {},
};
