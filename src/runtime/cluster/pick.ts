/** An object with those of the named members that are there. */
export function pick<T extends object, K extends keyof T>(value: T, names: readonly K[]): Pick<T, K> {
  const picked: Partial<Pick<T, K>> = {};
  for (const name of names) if (value[name] !== undefined) picked[name] = value[name];
  return picked as Pick<T, K>;
}
