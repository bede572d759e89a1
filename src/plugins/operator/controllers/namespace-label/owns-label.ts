/** Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/#managing-fields */
export type ManagedFields = readonly {
  readonly manager?: string;
  readonly operation?: string;
  readonly fieldsV1?: unknown;
}[];

/** Whether that manager has applied the label, and may thus take it back. */
export function ownsLabel(fields: ManagedFields | undefined, manager: string, label: string): boolean {
  return (fields ?? []).some(
    (entry) =>
      entry.manager === manager &&
      entry.operation === 'Apply' &&
      member(member(member(entry.fieldsV1, 'f:metadata'), 'f:labels'), `f:${label}`) !== undefined,
  );
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
