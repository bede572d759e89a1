import { type Delivered, originOf } from './delivered.ts';
import { ownVariables } from './own-variables.ts';

/** Why the secrets cannot be delivered so, one reason a line with path and field, never a value. */
export function mistakesIn(delivered: readonly Delivered[]): string[] {
  return [...delivered.flatMap(mistakeIn), ...sharedNames(delivered)];
}

function mistakeIn(secret: Delivered): string[] {
  const { key, value } = secret;
  const reasons: string[] = [];
  if (key === '') reasons.push('has an empty name');
  if (/[=\0]/.test(key)) reasons.push('has a name with "=" or NUL, which no variable can have');
  if (ownVariables.includes(key)) reasons.push(`has the name ${key}, which the wrapper sets itself`);
  if (value.includes(0)) reasons.push('has a value with a NUL byte, which ends a variable');
  return reasons.map((reason) => `${originOf(secret)}: ${reason}`);
}

function sharedNames(delivered: readonly Delivered[]): string[] {
  const byName = Map.groupBy(delivered, ({ key }) => key);
  return [...byName]
    .filter(([, secrets]) => secrets.length > 1)
    .map(
      ([key, secrets]) => `${secrets.map(originOf).join(' and ')}: have the same name ${JSON.stringify(key)}`,
    );
}
