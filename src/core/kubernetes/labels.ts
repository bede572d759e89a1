/** The label that the webhook gives to every pod that it mutates, and the operator to namespaces with such pods. */
export const protectedLabel = 'svc/protected';
/** Of those pods that have the encryption proxy. */
export const proxyLabel = 'svc/proxy';

export function isLabelled(labels: Readonly<Record<string, string>> | undefined): boolean {
  return labels?.[protectedLabel] === 'true';
}

/** Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/label-selector/ */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelRequirement[];
}

export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

type Labels = Readonly<Record<string, string>>;

/** Whether labels satisfy every requirement; a selector without any selects everything. */
export function selects(selector: LabelSelector, labels: Labels = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
    matchExpressions.every((requirement) => satisfies(requirement, labelOf(labels, requirement.key)))
  );
}

/** As Kubernetes has it, a label that is not there is not in any set. */
function satisfies({ operator, values = [] }: LabelRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      // an operator of a later version selects nothing rather than everything
      return false;
  }
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** The field manager of the operator's applies. */
export const fieldManager = 'svc-operator';

const label = 'app.kubernetes.io/managed-by';

/** Marks the objects that the operator manages. */
export const managedBy = { [label]: fieldManager } as const;
/** The same in `name=value` form. */
export const managedByUs = `${label}=${fieldManager}`;

export interface OwnedMetadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly managedFields?: readonly { readonly manager?: string; readonly operation?: string }[];
}

/** Whether anybody but the operator has written fields of it. */
export function hasOtherWriters({ managedFields = [] }: OwnedMetadata): boolean {
  return managedFields.some(({ manager }) => manager !== fieldManager);
}

/** Removing the label does not hand an object that the operator has applied over to somebody else. */
export function isOperators({ labels = {}, managedFields = [] }: OwnedMetadata): boolean {
  return (
    labels[label] === fieldManager ||
    managedFields.some(({ manager, operation }) => manager === fieldManager && operation === 'Apply')
  );
}
