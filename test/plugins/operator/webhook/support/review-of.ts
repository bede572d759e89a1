/** What the API server posts for a pod that is created in the namespace `team`. */
export function reviewOf(object: object, request: object = {}): object {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'review-1',
      kind: { group: '', version: 'v1', kind: 'Pod' },
      operation: 'CREATE',
      namespace: 'team',
      userInfo: { username: 'somebody' },
      object,
      ...request,
    },
  };
}
