{{/* What the schema cannot say: values that do not go together. All mistakes are named at once. */}}
{{- define "svc.rules" -}}
{{- $mistakes := list -}}
{{- $operator := .Values.operator -}}
{{- $replicas := include "svc.replicas" . | int -}}
{{- if ne .Release.Namespace (include "svc.namespace" .) -}}
{{- $mistakes = append $mistakes (printf "the namespace is %s: names are fixed, install with --namespace svc-system" .Release.Namespace) -}}
{{- end -}}
{{- if and (eq $operator.webhook.failurePolicy "Ignore") (not $operator.development) -}}
{{- $mistakes = append $mistakes "operator.webhook.failurePolicy: Ignore lets pods start unprotected; it needs operator.development=true" -}}
{{- end -}}
{{- if and $operator.ha (lt $replicas 2) -}}
{{- $mistakes = append $mistakes (printf "operator.ha: needs at least 2 replicas, operator.replicaCount is %d" $replicas) -}}
{{- end -}}
{{- if and (gt $replicas 1) (eq (include "svc.leaderElect" .) "false") -}}
{{- $mistakes = append $mistakes (printf "operator.leaderElect: false is for a single replica, here are %d" $replicas) -}}
{{- end -}}
{{- if and (eq $operator.wrapperDelivery "host") (not .Values.ebpf.enabled) -}}
{{- $mistakes = append $mistakes "operator.wrapperDelivery: host needs ebpf.enabled=true, whose pods keep the folder" -}}
{{- end -}}
{{- if and (eq $operator.wrapperDelivery "image") (semverCompare "<1.33-0" .Capabilities.KubeVersion.Version) -}}
{{- $mistakes = append $mistakes (printf "operator.wrapperDelivery: image needs image volumes (Kubernetes 1.33), this is %s" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- if and .Values.ebpf.requireEnforcement (not .Values.enforceMode) -}}
{{- $mistakes = append $mistakes "ebpf.requireEnforcement: cannot be, because enforceMode is false" -}}
{{- end -}}
{{- with .Values.proxy.gc -}}
{{- if and .enabled (not .upstream) (not .region) -}}
{{- $mistakes = append $mistakes "proxy.gc: needs upstream or region, by which the object store is found" -}}
{{- end -}}
{{- if lt (.minAge | trimSuffix "h" | int) 24 -}}
{{- $mistakes = append $mistakes "proxy.gc.minAge: must be at least 24h" -}}
{{- end -}}
{{- end -}}
{{- if $mistakes -}}
{{- fail (printf "\n  %s" (join "\n  " $mistakes)) -}}
{{- end -}}
{{- end }}
