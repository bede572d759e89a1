{{/* What the schema cannot say: values that do not go together. All errors are named at once. */}}
{{- define "svc.rules" -}}
{{- $errors := list -}}
{{- $operator := .Values.operator -}}
{{- $replicas := include "svc.replicas" . | int -}}
{{- if ne .Release.Namespace (include "svc.namespace" .) -}}
{{- $errors = append $errors (printf "the namespace is %s: names are fixed, install with --namespace svc-system" .Release.Namespace) -}}
{{- end -}}
{{- if and (eq $operator.webhook.failurePolicy "Ignore") (not $operator.development) -}}
{{- $errors = append $errors "operator.webhook.failurePolicy: Ignore lets pods start unprotected; it needs operator.development=true" -}}
{{- end -}}
{{- if and $operator.ha (lt $replicas 2) -}}
{{- $errors = append $errors (printf "operator.ha: needs at least 2 replicas, operator.replicaCount is %d" $replicas) -}}
{{- end -}}
{{- if and (gt $replicas 1) (eq (include "svc.leaderElect" .) "false") -}}
{{- $errors = append $errors (printf "operator.leaderElect: false is for a single replica, here are %d" $replicas) -}}
{{- end -}}
{{- if and (eq $operator.wrapperDelivery "host") (not .Values.ebpf.enabled) -}}
{{- $errors = append $errors "operator.wrapperDelivery: host needs ebpf.enabled=true, whose pods keep the folder" -}}
{{- end -}}
{{- if and (eq $operator.wrapperDelivery "image") (semverCompare "<1.33-0" .Capabilities.KubeVersion.Version) -}}
{{- $errors = append $errors (printf "operator.wrapperDelivery: image needs image volumes (Kubernetes 1.33), this is %s" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- if and .Values.ebpf.requireEnforcement (not .Values.enforceMode) -}}
{{- $errors = append $errors "ebpf.requireEnforcement: cannot be, because enforceMode is false" -}}
{{- end -}}
{{- with .Values.proxy.gc -}}
{{- if and .enabled (not .upstream) (not .region) -}}
{{- $errors = append $errors "proxy.gc: needs upstream or region, by which the object store is found" -}}
{{- end -}}
{{- if lt (.minAge | trimSuffix "h" | int) 24 -}}
{{- $errors = append $errors "proxy.gc.minAge: must be at least 24h" -}}
{{- end -}}
{{- end -}}
{{- if $errors -}}
{{- fail (printf "\n  %s" (join "\n  " $errors)) -}}
{{- end -}}
{{- end }}
