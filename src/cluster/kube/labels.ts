/** Label of every pod that the webhook mutates, and of namespaces with such pods. */
export const protectedLabel = 'svc/protected';
/** Label of the pods that also have the encryption proxy. */
export const proxyLabel = 'svc/proxy';

/** Label of a namespace with the level of Pod Security that it enforces. */
export const podSecurityLabel = 'pod-security.kubernetes.io/enforce';

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

/** Whether labels satisfy every requirement; an empty selector selects everything. */
export function selects(selector: LabelSelector, labels: Labels = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labelOf(labels, key) === value) &&
    matchExpressions.every((requirement) => satisfies(requirement, labelOf(labels, requirement.key)))
  );
}

/** As in Kubernetes, a missing label is in no set. */
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
      // an unknown operator of a later version selects nothing rather than everything
      return false;
  }
}

function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** Field manager of the operator's server-side applies. */
export const fieldManager = 'svc-operator';

const label = 'app.kubernetes.io/managed-by';

/** Marks the objects that the operator manages. */
export const managedBy = { [label]: fieldManager } as const;
/** `managedBy` in `name=value` form. */
export const managedByUs = `${label}=${fieldManager}`;

export interface OwnedMetadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly managedFields?: readonly { readonly manager?: string; readonly operation?: string }[];
}

/** Whether anyone but the operator has written fields of the object. */
export function hasOtherWriters({ managedFields = [] }: OwnedMetadata): boolean {
  return managedFields.some(({ manager }) => manager !== fieldManager);
}

/** Removing the label does not hand over an object that the operator has applied. */
export function isOperators({ labels = {}, managedFields = [] }: OwnedMetadata): boolean {
  return (
    labels[label] === fieldManager ||
    managedFields.some(({ manager, operation }) => manager === fieldManager && operation === 'Apply')
  );
}
