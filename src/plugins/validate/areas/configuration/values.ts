import { findGiven } from '../../../../core/settings/origin.ts';
import { wrongValue } from '../../../../core/settings/wrong-value.ts';
import type { ComponentRules, Env } from '../../call.ts';
import type { Check } from '../../contract.ts';
import { verdict } from '../../results.ts';

export const values: Check = {
  ...{ id: 'SVC-CONFIG-001', area: 'configuration', level: 'error', needs: 'none' },
  title: 'Variables that are set have values that svc takes',
  cause: 'A value is mistyped, or has another form than the variable takes.',
  fix: 'Set each to what the message asks for; svc run <component> --help lists them.',
  async run({ env, mistakes, components }) {
    const ofComponents = (await components()).flatMap((component) => wrongIn(component, env));
    const found = [...new Set([...mistakes, ...ofComponents])].sort();
    return verdict(found.map(asFailure));
  },
};

/** The variables that components read; whether one is required is asked where a component is configured by a file. */
function wrongIn({ settings }: ComponentRules, env: Env): readonly string[] {
  return Object.values(settings).flatMap((setting) => {
    const { fallback: _, ...withoutDefault } = setting;
    const given = findGiven(withoutDefault, { env });
    if (given === undefined) return [];
    try {
      setting.parse(given.text);
      return [];
    } catch (error) {
      return [wrongValue(setting, given, error)];
    }
  });
}

/** Mistakes begin with what they are about and a colon. */
export function asFailure(mistake: string): { subject: string; message: string } {
  const at = mistake.indexOf(': ');
  if (at < 0) return { subject: 'configuration', message: `${mistake}.` };
  return { subject: mistake.slice(0, at), message: `${mistake.slice(at + 2)}.` };
}
