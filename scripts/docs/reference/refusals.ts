/**
 * Messages about a pod that is refused or does not start, and about policies: of whom if not of the operator, the cause, and
 * what to do. … stands for what differs.
 */
export const refusals: readonly (readonly [message: string, cause: string, step: string])[] = [
  [
    'API server: `failed calling webhook "annotated.svc.io"`, `no endpoints available`',
    'no replica is ready',
    '`kubectl -n svc-system get pods`; `/readyz` of one says what it waits for',
  ],
  [
    'API server: `failed calling webhook`, `context deadline exceeded`',
    "the API server cannot reach port 9443, or a replica's node is gone",
    'open 9443 from the control plane to the nodes (firewalls of managed clusters); check that all replicas answer',
  ],
  [
    'API server: `failed calling webhook`, `certificate signed by unknown authority`',
    '`caBundle` does not match the served certificate: just restarted, or no replica can write it',
    "wait a few seconds; then check `webhook.bundle.failed` in the leader's log, `svc_webhook_ca_bundle_written`",
  ],
  [
    "API server: `ValidatingAdmissionPolicy 'svc-operator'`, `no container starts with it`",
    'another mutating webhook, called after `svc-operator`, adds `svc/` annotations or removes the wrapper; or the pod has a volume of its own named `svc-wrapper`',
    "set the annotations in the pod's template, or give that webhook's configuration a name that sorts before `svc-operator`",
  ],
  [
    "API server: `ValidatingAdmissionPolicy 'svc-operator'`, `these containers do not start with the wrapper`",
    'another mutating webhook, called after `svc-operator`, sets the command of a wrapped container, or adds `svc/containers`',
    'exclude the pod from that webhook, or give its configuration a name that sorts before `svc-operator`',
  ],
  [
    'API server: `violates PodSecurity`, with `IPC_LOCK` or `hostPath`',
    'the cluster has a default level that no label shows, or another policy engine',
    'label the namespace with its level: `pod-security.kubernetes.io/enforce=baseline`',
  ],
  [
    'API server: `seccomp may not be set`',
    'a policy that permits no profile, such as an OpenShift SCC without seccompProfiles',
    '`operator.seccompDefault: false`, or permit `runtime/default`',
  ],
  [
    'kubelet: `ErrImagePull` of the container `svc-wrapper` or `svc-proxy`',
    "the pod's pull secrets do not cover that registry",
    'add one to the service account, or put the images where pods can pull them',
  ],
  [
    'kubelet: `configmap "svc-ca" not found`',
    'first protected pod of the namespace: the leader writes it within a second, the kubelet retries',
    "if it persists: check that there is a leader and that `svc-ca` is not somebody else's (`authorities.foreign`)",
  ],
  [
    'kubelet: `configmap "store-ca" not found`, `references non-existent config key`',
    '`svc/proxy-store-ca` or `proxy.storeCA` names it',
    "create it in the pod's namespace; `svc validate` names it (SVC-OPERATOR-021)",
  ],
  [
    'kubelet: `ephemeral local storage usage exceeds`',
    "the wrapper's folder has 90 MB",
    'a limit of 200 MiB or more, or `operator.wrapperDelivery: image`',
  ],
  [
    '`is not an annotation of svc`',
    "a typo, or another tool's annotation",
    'the message has the nearest name',
  ],
  [
    '`required, should be`',
    'set by neither annotation nor ServiceConfig nor operator',
    'the message names all places',
  ],
  [
    '`should not set … because the operator sets it to another value`',
    'the container sets a variable of the wrapper',
    'remove it; use the annotation',
  ],
  [
    '`failed calling webhook`, with `certificate required` or `EOF`',
    'the API server presents no certificate of `operator.webhook.clientCA` (`webhook.stranger`)',
    'fix its AdmissionConfiguration, [API servers that say who they are](../OPERATOR.md#api-servers-that-say-who-they-are)',
  ],
  [
    '`should have at most` … `has` …',
    'the pod is larger than any that is protected ([bounds](kubernetes.md#bounds-of-a-pod))',
    'put long scripts into a file or ConfigMap; or `svc/inject: "false"`',
  ],
  [
    '`too many reviews to decide at the same time`',
    'more or larger pods at once than the operator has memory for',
    'create it again; more replicas, or `operator.resources`',
  ],
  [
    '`too many reviews are waiting for registries`',
    'more pods with images that are not known yet than may wait, in all or of one namespace',
    'create it again: its lookup continues; see which registry is slow (`image.lookup_failed`)',
  ],
  [
    '`What these images run could not be looked up:`',
    'registry down, credentials, no such image: the next lines say which',
    'fix that, or set `command` in the pod or `svc/command`',
  ],
  [
    '`from a CA that the operator does not trust`',
    "the registry's certificate is signed by a private CA",
    '`operator.registryCA`',
  ],
  [
    'kubelet: `hostPath type check failed: /var/lib/svc/wrapper/current`',
    "`wrapperDelivery: host`, and the node's agent has not installed the folder yet",
    "the kubelet retries; if it persists, check the init container `wrapper` of that node's `svc-ebpf` pod",
  ],
  [
    '`run different commands`',
    'an image of several platforms',
    'node selector `kubernetes.io/arch`, or `svc/command`',
  ],
  [
    '`is for one image, and the containers`',
    '`svc/command` with several images',
    '`command` in the containers',
  ],
  ['`starts svc-wrapper itself`', 'the pod was wrapped by hand', "give it the application's command"],
  [
    "`the name is reserved for the operator's own`",
    "one of the pod's own containers or volumes has a name that the operator uses; or the pod is a copy of one with another wrapper delivery (`operator.wrapperDelivery`)",
    'rename it; copy from the Deployment, not from the pod',
  ],
  [
    '`the proxy listens on …, a port that a container`',
    '8190 is taken in the pod',
    'another port for the application',
  ],
  [
    '`egress policies do not apply to a pod on the network of its node`',
    '`hostNetwork`',
    'remove it, or set `svc/inject: "false"`',
  ],
  [
    '`host needs a hostPath volume`',
    '`operator.wrapperDelivery: host` in a namespace with a stricter level',
    '`copy` or `image`',
  ],
  [
    '`The operator has not listed the cluster yet`',
    'it has just started, or cannot list something',
    '`/readyz`, `kube.watch.failed`',
  ],
  [
    '`Pods that it selects are refused until its errors are fixed.`',
    'ServiceConfig with `Valid` false',
    'its message',
  ],
  [
    '`Pods of this namespace are never protected`',
    'ServiceConfig in `kube-system` or `svc-system`',
    'another namespace',
  ],
  ['`The namespace has the label`', '`svc/protected` has a value other than `true`', 'remove the label'],
  [
    '`its memory is not locked as a whole`',
    'a warning: Pod Security level, or not root',
    'nothing, or a privileged namespace and root; the score shows it',
  ],
  [
    '`The pod will not complete while the proxy runs`',
    'a warning: Job with the proxy on Kubernetes 1.28',
    '1.29',
  ],
  [
    '`is allowed by its current addresses, which can change`',
    'a server outside the cluster, by name',
    'nothing, or a name with fixed addresses',
  ],
  [
    '`No secrets server is known; none can be reached`',
    'no secrets server is configured',
    '`operator.vaultAddress`, or the ServiceConfig',
  ],
  ['`is too wide; it is left out`', '`spec.egress` covers nearly everything', 'smaller blocks'],
  [
    '`together cover more than a quarter of all addresses`',
    "blocks of a namespace's ServiceConfigs cover more than a quarter of all addresses together",
    'smaller blocks',
  ],
  [
    '`The agent does not guard this pod.`',
    'the agent does not know it: no label, no registration',
    'recreate the pod; check that the agent on its node is ready',
  ],
  [
    '`Other policies let the pod reach more`',
    'a network policy of yours selects protected pods',
    'narrow it, name what is needed in `spec.egress`',
  ],
];
