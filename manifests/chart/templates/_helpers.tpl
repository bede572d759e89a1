{{/* Names are fixed: others, the webhook's certificate among them, rely on them. */}}
{{- define "svc.namespace" -}}svc-system{{- end }}

{{- define "svc.labels" -}}
app.kubernetes.io/part-of: svc
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "svc.operator.selector" -}}
app.kubernetes.io/name: svc-operator
{{- end }}

{{- define "svc.agent.selector" -}}
app.kubernetes.io/name: svc-ebpf
{{- end }}

{{/* Reference of an image. Takes (list $ .Values.operator.image). */}}
{{- define "svc.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $repository := $image.repository -}}
{{- if $root.Values.registry -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" $root.Values.registry) $image.repository -}}
{{- end -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository ($image.tag | default $root.Chart.AppVersion) -}}
{{- end -}}
{{- end }}

{{- define "svc.pullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "svc.replicas" -}}
{{- if kindIs "invalid" .Values.operator.replicaCount -}}
{{- ternary 3 1 .Values.operator.ha -}}
{{- else -}}
{{- int .Values.operator.replicaCount -}}
{{- end -}}
{{- end }}

{{/* "true" or "false" */}}
{{- define "svc.leaderElect" -}}
{{- if kindIs "invalid" .Values.operator.leaderElect -}}
true
{{- else -}}
{{- .Values.operator.leaderElect -}}
{{- end -}}
{{- end }}
