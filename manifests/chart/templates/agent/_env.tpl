{{- define "svc.agent.env" -}}
- name: NODE_NAME
  valueFrom:
    fieldRef:
      fieldPath: spec.nodeName
- name: SVC_AGENT_SOCKET
  value: /run/svc/agent.sock
- name: SVC_AGENT_HEALTH
  value: ":9090"
- name: SVC_AGENT_ENFORCE
  value: {{ .Values.enforceMode | quote }}
- name: SVC_AGENT_REACTIVE_KILL
  value: {{ .Values.reactiveKill | quote }}
- name: SVC_AGENT_REQUIRE_ENFORCEMENT
  value: {{ .Values.ebpf.requireEnforcement | quote }}
- name: SVC_AGENT_GUARD_KERNEL_MEMORY
  value: {{ .Values.ebpf.guardKernelMemory | quote }}
- name: SVC_AGENT_GUARD_PERF
  value: {{ .Values.ebpf.guardPerf | quote }}
- name: SVC_AGENT_GUARD_INTERPRETERS
  value: {{ .Values.ebpf.guardInterpreters | quote }}
- name: SVC_OPERATOR_ADDR
  value: svc-operator-agents.{{ include "svc.namespace" . }}.svc:8199
- name: SVC_OPERATOR_TLS_CERT
  value: /etc/svc/operator-tls/tls.crt
- name: SVC_OPERATOR_TLS_KEY
  value: /etc/svc/operator-tls/tls.key
- name: SVC_OPERATOR_TLS_CA
  value: /etc/svc/operator-tls/ca.crt
- name: SVC_OPERATOR_TOKEN_FILE
  value: /etc/svc/operator-token/token
- name: SVC_LOG_LEVEL
  value: {{ .Values.ebpf.logLevel }}
- name: SVC_LOG_FORMAT
  value: json
{{- end }}
