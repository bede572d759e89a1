{{/* `to:` with blocks of addresses; nothing, which is everywhere, where there are none. */}}
{{- define "svc.network.to" -}}
{{- with .cidrs }}
to:
  {{- range . }}
  - ipBlock:
      cidr: {{ . | quote }}
  {{- end }}
{{- end }}
ports:
  {{- range .ports }}
  - protocol: TCP
    port: {{ . }}
  {{- end }}
{{- end }}

{{- define "svc.network.metadata" -}}
namespace: {{ include "svc.namespace" . }}
labels:
  {{- include "svc.labels" . | nindent 2 }}
{{- end }}
