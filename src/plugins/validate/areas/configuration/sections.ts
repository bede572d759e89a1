import { messageOf, SvcError } from '../../../../core/errors.ts';
import { sectionOf } from '../../../../core/settings/config-file.ts';
import { type Check as Rules, resolveSettings } from '../../../../core/settings/resolve.ts';
import type { Settings } from '../../../../core/settings/setting.ts';
import { hint } from '../../../../core/settings/suggest.ts';
import { loadConfigFile } from '../../../../runtime/config/load-file.ts';
import type { ComponentRules } from '../../call.ts';
import type { Check, CheckContext, CheckFailure } from '../../contract.ts';
import { skipped, verdict } from '../../results.ts';
import { asFailure } from './values.ts';

export const sections: Check = {
  ...{ id: 'SVC-CONFIG-002', area: 'configuration', level: 'error', needs: 'none' },
  title: 'The configuration file starts the components that it has sections for',
  cause:
    'The name of a section is mistyped; a section has a key that is not known or a wrong value, or lacks what its component requires; or a file that it names is not there.',
  fix: 'Mend what is listed: the component would refuse to start with the same words.',
  async run(context) {
    const { configFile } = context;
    if (configFile === undefined)
      return skipped('No configuration file is named: give --config or SVC_CONFIG.');
    const file = await loadConfigFile(configFile);
    const { content } = file;
    const names = typeof content === 'object' && content !== null ? Object.keys(content) : [];
    const all = await context.components();
    const components = all.filter(({ name, check }) => check !== undefined && names.includes(name));
    const mistyped = mistypedIn(names, all);
    if (components.length + mistyped.length === 0)
      return skipped('The file has no section of a component that can be looked at.');
    return verdict([...mistyped, ...components.flatMap((component) => mistakesIn(component, file, context))]);
  },
};

/** Plugins have sections of their own, so that only a name that is near another one is mistaken. */
function mistypedIn(names: readonly string[], all: readonly ComponentRules[]): readonly CheckFailure[] {
  const known = all.map(({ name }) => name);
  return names
    .filter((name) => !known.includes(name) && hint(name, known) !== '')
    .map((subject) => ({ subject, message: `No component has such a section${hint(subject, known)}.` }));
}

type File = Awaited<ReturnType<typeof loadConfigFile>>;

function mistakesIn(component: ComponentRules, file: File, { env }: CheckContext): readonly CheckFailure[] {
  const { name, settings, check } = component;
  try {
    resolveSettings(settings, { env, file: sectionOf(file, name, settings) }, check as Rules<Settings>);
    return [];
  } catch (error) {
    const details = error instanceof SvcError ? error.details : [];
    return details.length > 0 ? details.map(asFailure) : [{ subject: name, message: `${messageOf(error)}.` }];
  }
}
