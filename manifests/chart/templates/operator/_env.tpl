{{- define "svc.operator.env" -}}
{{- $operator := .Values.operator -}}
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- with $operator.vaultAddress }}
- name: SVC_OPERATOR_VAULT_ADDR
  value: {{ . | quote }}
{{- end }}
- name: SVC_OPERATOR_WEBHOOK_ADDR
  value: ":9443"
- name: SVC_OPERATOR_REVIEW_TIMEOUT
  value: {{ printf "%ds" (int $operator.webhook.timeoutSeconds) | quote }}
- name: SVC_OPERATOR_METRICS_ADDR
  value: ":8080"
- name: SVC_OPERATOR_HEALTH_ADDR
  value: ":8081"
- name: SVC_OPERATOR_GRPC_ADDR
  value: ":8199"
- name: SVC_OPERATOR_LEADER_ELECT
  value: {{ include "svc.leaderElect" . | quote }}
- name: SVC_WRAPPER_IMAGE
  value: {{ include "svc.image" (list . .Values.wrapper.image) | quote }}
- name: SVC_PROXY_IMAGE
  value: {{ include "svc.image" (list . .Values.proxy.image) | quote }}
- name: SVC_WRAPPER_DELIVERY
  value: {{ $operator.wrapperDelivery }}
- name: SVC_OPERATOR_SECCOMP_DEFAULT
  value: {{ $operator.seccompDefault | quote }}
{{- if .Values.ebpf.enabled }}
- name: SVC_OPERATOR_AGENT_SOCKET
  value: /run/svc/agent.sock
{{- end }}
{{- if $operator.webhook.certSecret }}
- name: SVC_OPERATOR_CERT_DIR
  value: /etc/svc/webhook
{{- end }}
{{- if $operator.webhook.clientCA }}
- name: SVC_OPERATOR_WEBHOOK_CLIENT_CA_FILE
  value: /etc/svc/webhook-client-ca/ca.crt
{{- end }}
{{- if $operator.vaultCA }}
- name: SVC_OPERATOR_CA_FILE
  value: /etc/svc/vault-ca/ca.crt
{{- end }}
{{- if $operator.storeCA }}
- name: SVC_OPERATOR_STORE_CA_FILE
  value: /etc/svc/store-ca/ca.crt
{{- end }}
{{- with $operator.tokenAudience }}
- name: SVC_OPERATOR_TOKEN_AUDIENCE
  value: {{ . | quote }}
{{- end }}
{{- if $operator.envMapOnly }}
- name: SVC_OPERATOR_ENV_MAP_ONLY
  value: "true"
{{- end }}
{{- with $operator.registryMirrors }}
- name: SVC_OPERATOR_REGISTRY_MIRRORS
  value: {{ join "," . | quote }}
{{- end }}
{{- if $operator.registryCA }}
- name: SVC_OPERATOR_REGISTRY_CA_FILE
  value: /etc/svc/registry-ca/ca.crt
{{- end }}
{{- if $operator.registryCredentials }}
- name: SVC_OPERATOR_REGISTRY_CREDENTIALS
  value: /etc/svc/registry-credentials/config.json
{{- end }}
- name: SVC_OPERATOR_DEVELOPMENT
  value: {{ $operator.development | quote }}
- name: SVC_LOG_LEVEL
  value: {{ $operator.logLevel }}
- name: SVC_LOG_FORMAT
  value: json
- name: SVC_SHUTDOWN_GRACE
  value: 15s
{{- end }}
