/** Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/ (metav1.Condition) */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** One word in camel case, for programs. */
  readonly reason: string;
  /** A sentence, for people. */
  readonly message: string;
  /** When `status` last changed. */
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}

/** The group and version of all custom resources here. */
export const apiVersion = 'svc.io/v1alpha1';
