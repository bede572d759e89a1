{{- define "svc.gc.selector" -}}
app.kubernetes.io/name: svc-proxy-gc
{{- end }}

{{- define "svc.gc.env" -}}
{{- $gc := .Values.proxy.gc }}
{{- with $gc.upstream }}
- name: SVC_PROXY_UPSTREAM
  value: {{ . | quote }}
{{- end }}
{{- with $gc.region }}
- name: AWS_REGION
  value: {{ . | quote }}
{{- end }}
{{- with $gc.buckets }}
- name: SVC_PROXY_GC_BUCKETS
  value: {{ join "," . | quote }}
{{- end }}
{{- with $gc.stateBucket }}
- name: SVC_PROXY_STATE_BUCKET
  value: {{ . | quote }}
{{- end }}
- name: SVC_PROXY_RESERVED_PREFIX
  value: {{ $gc.reservedPrefix | quote }}
- name: SVC_PROXY_GC_MIN_AGE
  value: {{ $gc.minAge | quote }}
- name: SVC_PROXY_GC_DELETE
  value: {{ $gc.delete | quote }}
{{- with $gc.credentialsSecret }}
{{- $secret := . }}
{{- range list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
- name: {{ . }}
  valueFrom:
    secretKeyRef:
      name: {{ $secret }}
      key: {{ . }}
{{- end }}
{{- end }}
{{- if $gc.storeCA }}
- name: AWS_CA_BUNDLE
  value: /etc/svc/store-ca/ca.crt
{{- end }}
{{- end }}
