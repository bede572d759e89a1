{{/* What both entries have. */}}
{{- define "svc.webhook" -}}
admissionReviewVersions: [v1]
clientConfig:
  service:
    name: svc-operator
    namespace: {{ include "svc.namespace" . }}
    path: /mutate
    port: 443
rules:
  - apiGroups: [""]
    apiVersions: [v1]
    operations: [CREATE]
    resources: [pods]
    scope: Namespaced
failurePolicy: {{ .Values.operator.webhook.failurePolicy }}
matchPolicy: Equivalent
sideEffects: None
reinvocationPolicy: IfNeeded
timeoutSeconds: {{ .Values.operator.webhook.timeoutSeconds }}
{{- end }}

{{/* Never the cluster's own pods, never the operator's: it could not start without itself. */}}
{{- define "svc.webhook.namespaces" -}}
- key: kubernetes.io/metadata.name
  operator: NotIn
  values: [kube-system, {{ include "svc.namespace" . }}]
{{- end }}
