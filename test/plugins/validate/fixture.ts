import type { CheckContext } from '../../../src/plugins/validate/check.ts';

/** What a check is shown: the parts of a context that it looks at. */
export type Fixture = Partial<CheckContext>;

/** By id of the check: what it passes, and what it finds something in. Made anew for each use. */
export type Fixtures = Readonly<
  Record<string, { readonly passes: () => Fixture; readonly fails: () => Fixture }>
>;
