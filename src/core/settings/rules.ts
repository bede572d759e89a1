/** One requirement across settings: the mistake, led by the variable's name, or nothing. */
export type Rule<C> = (config: C) => string | undefined;

/** Thrown where a rule reads a setting that has a mistake of its own. */
export class UnusableSetting extends Error {
  override readonly name = 'UnusableSetting';
}

/**
 * The mistakes that the rules find. A rule that needs a setting which is itself
 * mistaken is passed over, so that one mistake is not reported as two.
 */
export function applyRules<C>(config: C, rules: readonly Rule<C>[]): string[] {
  return rules.map((rule) => outcome(() => rule(config))).filter((found) => found !== undefined);
}

export function outcome<T>(find: () => T): T | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof UnusableSetting) return undefined;
    throw error;
  }
}

/** The values resolved so far; reading one of `unusable` throws UnusableSetting. */
export function guarded<C extends object>(values: C, unusable: ReadonlySet<string>): C {
  return new Proxy(values, {
    get(target, key) {
      if (typeof key === 'string' && unusable.has(key)) throw new UnusableSetting(key);
      return Reflect.get(target, key);
    },
  });
}
