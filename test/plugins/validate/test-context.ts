import type { CheckContext } from '../../../src/plugins/validate/check.ts';
import { type ValidateConfig, validateSettings } from '../../../src/plugins/validate/settings.ts';
import { resolveSettings } from '../../../src/runtime/settings/resolve.ts';
import type { Fixture } from './fixture.ts';

/** As settings of these variables, and the defaults. */
export function configOf(env: Readonly<Record<string, string>> = {}): ValidateConfig {
  return resolveSettings(validateSettings, { env });
}

/** A context that has the fixture's parts, and nothing to connect to beside them. */
export function contextOf(fixture: Fixture): CheckContext {
  const nothing = (what: string) => async () => {
    throw new Error(`the fixture has no ${what}`);
  };
  return {
    config: configOf(),
    errors: [],
    configFile: undefined,
    components: async () => [],
    env: {},
    version: '1.0.0',
    now: () => Date.UTC(2026, 0, 1),
    signal: new AbortController().signal,
    vault: nothing('secrets server'),
    cluster: nothing('cluster'),
    store: nothing('object store'),
    rehearsal: nothing('recovery key'),
    get host(): never {
      throw new Error('the fixture has no host');
    },
    ...fixture,
  };
}
