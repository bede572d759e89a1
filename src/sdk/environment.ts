export type Environment = Readonly<Record<string, string | undefined>>;

/** '' for a variable that is not set, and for what process.env inherits from Object. */
export function variableOf(environment: Environment, key: string): string {
  const value: unknown = environment[key];
  return typeof value === 'string' ? value : '';
}

/** The value, unless it is empty. */
export function required(key: string, value: string): string {
  if (value === '') throw new Error(`svc-sdk: secret "${key}" not found`);
  return value;
}
