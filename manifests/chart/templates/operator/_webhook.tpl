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
  {{- include "svc.webhook.rules" . | nindent 2 }}
failurePolicy: {{ .Values.operator.webhook.failurePolicy }}
matchPolicy: Equivalent
sideEffects: None
reinvocationPolicy: IfNeeded
timeoutSeconds: {{ .Values.operator.webhook.timeoutSeconds }}
{{- end }}

{{- define "svc.webhook.rules" -}}
- apiGroups: [""]
  apiVersions: [v1]
  operations: [CREATE]
  resources: [pods]
  scope: Namespaced
{{- end }}

{{/* has() rather than the optional ?., which Kubernetes 1.28 does not take. */}}
{{- define "svc.webhook.annotated" -}}
has(object.metadata.annotations) && object.metadata.annotations.exists(key, key.matches('(?i)^svc/'))
{{- end }}

{{/* Never the cluster's own pods, never the operator's: it could not start without itself. */}}
{{- define "svc.webhook.namespaces" -}}
- key: kubernetes.io/metadata.name
  operator: NotIn
  values: [kube-system, {{ include "svc.namespace" . }}]
{{- end }}
