/** By which the API server knows what the operator has applied. */
export const fieldManager = 'svc-operator';

const label = 'app.kubernetes.io/managed-by';

/** By which objects that are the operator's to keep are told from those of others. */
export const managedBy = { [label]: fieldManager } as const;
/** The same as people write it. */
export const managedByUs = `${label}=${fieldManager}`;

export interface OwnedMetadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly managedFields?: readonly { readonly manager?: string; readonly operation?: string }[];
}

/** Whether anybody but the operator has written fields of it. */
export function hasOtherWriters({ managedFields = [] }: OwnedMetadata): boolean {
  return managedFields.some(({ manager }) => manager !== fieldManager);
}

/** Whoever takes the label off an object that the operator has applied does not make it theirs. */
export function isOperators({ labels = {}, managedFields = [] }: OwnedMetadata): boolean {
  return (
    labels[label] === fieldManager ||
    managedFields.some(({ manager, operation }) => manager === fieldManager && operation === 'Apply')
  );
}
