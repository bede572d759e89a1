{{/* Of the objects of the hook; takes (list $ weight). */}}
{{- define "svc.unload.metadata" -}}
{{- $root := index . 0 -}}
namespace: {{ include "svc.namespace" $root }}
labels:
  {{- include "svc.labels" $root | nindent 2 }}
annotations:
  helm.sh/hook: pre-delete
  helm.sh/hook-weight: {{ index . 1 | quote }}
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}
