/** What each event of the log means, and what to do about it. An event without the second text needs no action. */
export const logMeanings: Readonly<Record<string, readonly [means: string, todo?: string]>> = {
  // every component
  crashed: [
    'svc has a defect: an exception was not handled, and the process exits with 70',
    'Report it with `stack`. The supervisor, or Kubernetes, starts the process again',
  ],
  listening: ['The component has started. The line has its addresses, and the tier of the agent'],
  'run.failed': ['The component ended by itself', 'Do what `nextStep` says'],
  'shutdown.begin': ['The component received SIGTERM or SIGINT and finishes its work within `grace`'],
  'shutdown.forced': ['A second signal arrived: the component ends at once', 'Nothing, if this was intended'],
  'shutdown.overdue': [
    'The work did not end within `grace`; the component exits with 1',
    'Set a longer `SVC_SHUTDOWN_GRACE` if transfers take longer',
  ],
  'start.failed': [
    'The component could not start. `code` determines the exit status',
    'Do what `nextStep` and each line of `details` say',
  ],
  stopped: ['The component has ended as requested'],

  // proxy
  'proxy.access': [
    'A request has ended (`--access-log`): caller, operation, result, bytes of both bodies, version of the transit ' +
      'key. `keyHash` is an HMAC of bucket and key',
  ],
  'proxy.answer.late-error': [
    'A request failed after its response headers were sent; the broken-off response tells the caller',
    'The previous line gives the reason. Callers retry by themselves',
  ],
  'proxy.inline.failed': [
    'The part list of a small multipart object could not be moved into the object and stays beside it. The object is complete',
    'Nothing. If it recurs, check that the proxy may copy objects in the store',
  ],
  'proxy.bucket.not-cleared': [
    'A bucket seems to hold only helper objects. It was left unchanged, because not all of them could be read',
    'Fix what `error` says, run `svc proxy gc`, and complete or abort open uploads',
  ],
  'proxy.bucket.not-restored': [
    'A helper object was removed to delete a bucket. The store then refused to delete the bucket, and the object could not be restored',
    'If `key` is a manifest, check that the object written meanwhile can be read; otherwise check that open uploads can be completed',
  ],
  'proxy.manifest.left': [
    'A part list below `.svc/` that is no longer needed could not be removed',
    'Run `svc proxy gc`, which removes it, and check that the proxy may delete below `.svc/`',
  ],
  'proxy.memory.unprotected': [
    'The system is not Linux: core dumps are not disabled, and processes of the same user may read the memory',
    'Run the proxy on Linux',
  ],
  'proxy.object.refused': [
    'An object is not what the proxy wrote, so it is not delivered. `reason` says what differs',
    'Restore the object. See [the reasons](../TROUBLESHOOTING.md#a-client-of-the-proxy-gets-an-error)',
  ],
  'proxy.readiness.lost': [
    'Keys cannot be wrapped and unwrapped (`keys`), or the store cannot be used (`store`); `/readyz` is 503',
    'Do what `error` and `nextStep` say. See [the conditions](../PROXY.md#when-it-is-ready)',
  ],
  'proxy.readiness.regained': ['The condition that kept the proxy from being ready is met again'],
  'proxy.request': ['A request was answered'],
  'proxy.request.broke': ['svc has a defect: it ended a request with 500', 'Report it with `stack`'],
  'proxy.request.failed': ['A request was answered with a 5xx', 'Fix what `error` and `causes` say'],
  'proxy.upload.records-left': [
    'Records of a multipart upload that has ended could not be removed',
    'Run `svc proxy gc`, which removes them, and check that the proxy may delete below `.svc/`',
  ],
  'proxy.tls.refused': [
    'The certificate files for callers have changed and cannot be used (`reason`). The previous certificate stays in use',
    'Write a certificate with its matching key. The proxy reloads the files when they change',
  ],
  'proxy.tls.renewed': ['New connections get the new certificate'],
  'proxy.vault.denied': [
    'The key server refuses to wrap or unwrap',
    'Grant `update` on the `path` that the line names',
  ],
  'proxy.vault.expired-version': [
    'The object was wrapped by a key version that may no longer unwrap',
    'Lower `min_decryption_version`, write the object again, and raise it again',
  ],
  'proxy.vault.not-found': [
    'The transit key, or its mount, does not exist',
    'Check `--transit-key` and `--transit-mount`',
  ],
  'proxy.vault.rejected': [
    'The key server refuses to unwrap the data key of an object: the wrapped key or its binding was changed',
    'Find out who moved, renamed or edited the object behind the proxy, and restore it',
  ],
  'proxy.vault.unavailable': [
    'The key server cannot be reached or is sealed. Callers get 503 and retry',
    'Check the server, and the path to it: egress policy, port, certificate',
  ],
  'proxy.worker.died': [
    'A process of `--workers` ended; another one replaces it',
    'Read its last log line. If there is none, look for an out-of-memory kill in the kernel log',
  ],
  'proxy.write.unverified': ['An object was replaced or deleted before it could be verified'],
  'upstream.credentials.missing': [
    'The proxy has no credentials for the object store',
    'Do what `next` says. In a protected pod, `spec.egress` may have to permit the service that issues credentials',
  ],
  'upstream.denied': [
    'The store refuses the credentials of the proxy. The line appears once a minute, with `count`',
    'Check the role or keys of the proxy (not those of its callers) and the policy of the bucket',
  ],
  'upstream.failed': [
    'The store cannot be reached, or it ended a request early',
    'Check `--upstream`, `AWS_CA_BUNDLE` and the egress policy `svc-egress-<namespace>-store`',
  ],
  'vault.answers': ['The key server answers again, after `seconds`'],
  'vault.hangs': [
    'The key server did not answer within `timeout_ms`. Until it answers, callers get 503 after half a second, and these requests are not logged one by one',
    'Find out what the key server waits for (its storage, a lock, a network that drops packets). The proxy keeps retrying',
  ],
  'vault.login': ['The client has a token for the key server'],
  'vault.login.failed': [
    'The login at the key server failed. It is retried after `retry_ms`',
    'Depending on `code`, check role, namespace and service account, or the path to the key server',
  ],
  'vault.renewal': ['The token was renewed'],
  'vault.tls.skipped': [
    'A certificate of a bundle cannot be read and is skipped; `where` names it. The others are trusted',
    'Put the bundle right',
  ],
  'vault.tls.unverified': [
    '`VAULT_SKIP_VERIFY` is on: anyone on the path to the server can intercept keys',
    'Unset it, and set the CA in `VAULT_CACERT`',
  ],

  // wrapper
  'agent.missing': [
    'No node agent responds. The application starts without one, because `SVC_REQUIRE_AGENT` is `false`',
    'Check that the agent of this node is ready, and that its socket is mounted',
  ],
  'agent.covered': ['A node agent protects the process through its pod; the process has no agent address'],
  'agent.registered': ['The node agent protects the process, as `tier` and `enforcing` say'],
  'agent.report.failed': [
    'The node agent rejected the measurements of the wrapper. The wrapper reports again in five minutes',
    'If it continues, check that the agent of this node is ready',
  ],
  'agent.waiting': [
    'The node agent does not respond yet, or does not cover the process yet. The wrapper retries for `SVC_STARTUP_TIMEOUT`',
    'Check that the agent of this node is ready, and that its socket is mounted, where the pod has it',
  ],
  'application.continued': ['The application runs again after a stop'],
  'application.ended': ['The application has ended, by itself or to be restarted'],
  'application.killed': [
    'The application did not end within `SVC_STOP_GRACE` and was killed',
    'Set a longer grace, or make the application end at SIGTERM',
  ],
  'application.started': [
    'The application runs. `descriptor` says whether it also has its secrets in a descriptor',
  ],
  'application.stopped': ['The application was stopped, for example by a terminal, and has not ended'],
  'config.remark': [
    'A setting is probably a mistake, or is for development only, as `remark` says',
    'Nothing, if it is intended',
  ],
  'descriptor.unavailable': [
    'No `memfd_secret` memory: only the environment has the secrets',
    'Use a node with Linux 6.5, or 5.14 with `secretmem.enable=1`. With `SVC_DELIVERY=fd` the wrapper refuses other nodes',
  ],
  'folder.copied': ['`--copy-to` has copied the wrapper folder'],
  'folder.installed': [
    '`--install-to` has installed the wrapper folder and removed `removed` earlier versions',
  ],
  'health.listening': ['The address of `/healthz`, `/readyz` and `/metrics`'],
  'memory.lock': [
    'Not all memory of the wrapper could be locked, and `SVC_REQUIRE_MLOCK` is `false`',
    'Grant `CAP_IPC_LOCK`, or set `LimitMEMLOCK=infinity`',
  ],
  'health.failed': [
    'The process that serves the health endpoints for a wrapper that does not stay has ended. A new one is started',
    'If it recurs, report it with `exit_code`',
  ],
  'health.stale': [
    'A worker that stays could not renew the responses of the health endpoints: those of its last check remain',
    'Report it with `error`',
  ],
  'node.warning': [
    'Node issued a warning',
    'If it concerns a setting of Node, change that; otherwise report it',
  ],
  'orphan.reaped': ['A process left behind by the application has ended'],
  'orphans.left': [
    'Processes survive SIGKILL; the wrapper ends without waiting for them',
    'Find out what blocks them, for example a file system',
  ],
  protection: ['The measured protection of the secrets: memory lock, core dumps, kind of memory'],
  'protection.unknown': [
    'The protection of the application could not be measured. The application runs',
    'Check that `/proc` can be read in the container',
  ],
  'secrets.fetched': ['All secrets have been read; the line has their number, paths and kind of memory'],
  'secrets.keep.failed': [
    'The token or the secrets could not be renewed. The application keeps its secrets',
    'Fix what `error` says: the secrets server cannot be reached, or refuses',
  ],
  'secrets.replace.inherited': [
    'Secrets replace variables of the container that have the same names',
    'Nothing, if this is intended. `SVC_ENV_MAP` gives them other names',
  ],
  'secrets.rotated': ['Changed secrets were passed on; `kind` says how'],
  'secrets.rotation.refused': [
    'Changed secrets do not fit into the descriptor. The application keeps the old ones',
    'Restart the application, or set `SVC_ROTATION=restart`',
  ],
  'secrets.waiting': [
    'The secrets server is sealed, unreachable or busy. The wrapper retries for `SVC_STARTUP_TIMEOUT`',
    'Check the server, and the path to it: egress policy, port, certificate',
  ],
  'secrets.wipe.failed': [
    'Copies of secrets in the memory of the wrapper could not be overwritten',
    'Check whether something forbids `process_vm_readv`, such as a seccomp profile',
  ],
  'signal.undeliverable': [
    'A signal could not be forwarded to the application',
    'Check whether the application runs as a user whom the wrapper may not signal',
  ],
  starting: ['The configuration has been read, and the process is protected as `lock` says'],
  'token.kept': ['The token was renewed or replaced'],

  // node agent
  'guard.beat.failed': [
    'A periodic check of the protection could not be completed. The next one follows',
    'Report it if it recurs',
  ],
  'guard.canary.failed': [
    'A read of the decoy succeeded, or the programs were changed. The agent loads them again, or those of the next tier',
    'Find out who changed them. `svc_agent_tier` shows the tier now in force',
  ],
  'guard.attached': [
    'The attached programs, and why each does or does not run at every system call',
    'Nothing. With `passable`, calls can bypass the hooks on this kernel: boot with `preempt=voluntary`',
  ],
  'guard.tier': [
    'Another tier is in force; `warn` where it does not enforce',
    '`passed_over` says why higher tiers failed. See [AGENT.md](../AGENT.md#when-it-does-not-work)',
  ],
  'hit.denied': [
    'A process was denied access to a protected process',
    'The `source_…` fields name it: a tool that reads every process (`ps`, profilers), or an attack',
  ],
  'hit.killed': [
    'A process that tried to read a protected process was killed',
    'The `source_…` fields name it: a tool that reads every process (`ps`, profilers), or an attack',
  ],
  'hit.seen': [
    'A process read a protected process, or could have: this tier, or `--enforce false`, only reports',
    'The `source_…` fields name it. Change the secrets unless it was a tool of yours',
  ],
  'hits.more': [
    'Some attempts of the last second are not logged; the line has their number',
    'See `svc_agent_hits_total`, which counts all attempts',
  ],
  'hits.unknown': [
    'Programs of another version still write to the ring buffer, in a format that this agent does not read',
    'Nothing during an upgrade. Otherwise run `svc run agent --unload`, and start the agent again',
  ],
  'kube.handler.failed': ['svc has a defect: a change in the cluster was not handled', 'Report it'],
  'kube.watch.failed': [
    'The connection to the API server was lost, or the server refuses. The last state of the cluster is kept, and the connection retried',
    'Depending on `code`, check the path to the API server, or the permissions that the chart grants',
  ],
  'operator.connected': ['The operator accepts reports. The agent now reports `queued` attempts'],
  'operator.unreachable': [
    'The operator does not accept reports. Protection continues, and the newest attempts are kept',
    'Check that an operator is ready, that port 8199 is open, and the files of `SVC_BROKER_TLS_…`',
  ],
  'pod.covered': ['The processes of a labelled pod are protected'],
  'pod.crowded': [
    'A cgroup has more processes than its share of the table. The others are covered only while they stay in the cgroup',
    'Run fewer processes at a time in this container',
  ],
  'pod.released': ['A pod has lost its label, or has ended'],
  'pod.uncovered': [
    'A labelled pod is missing from the table in the kernel',
    'Do what `reason` says: mount the cgroups of the host, or run fewer protected pods on the node',
  ],
  'pods.node.unchecked': [
    'The agent could not check whether a node has the given name',
    'Grant `get` on `nodes`, and check the path to the API server',
  ],
  'pods.node.unknown': [
    'No node has the given name, so no pod is found',
    'Set `NODE_NAME` from `spec.nodeName`',
  ],
  'pods.off': [
    'The agent does not watch pods. Wrappers can still register',
    'Nothing without a cluster. Otherwise give the agent a service account, or `KUBECONFIG`',
  ],
  'pods.watch': ['The agent watches the pods of this node'],
  registered: ['A wrapper has registered. Its process and its descendants are protected'],
  'token.guarded': [
    'The token volume `path` of wrappers and proxy of `pod` opens only for process `pid`, processes of the same name, and the kubelet',
  ],
  'token.kubelet': ['The process of the kubelet, which renews the tokens of this node and may open them'],
  'token.kubelet_failed': [
    'The search for the kubelet failed; it is repeated in two seconds',
    'If it recurs, report it with `error`',
  ],
  'token.unguarded': [
    'The token volume of the wrappers of `pod` is not guarded (`reason`): only its file permissions protect it',
    'If the kubelet is not found, let it listen on port 10250, and run the agent with `hostPID: true`',
  ],
  'registered.opened_before': [
    'Another process had opened this one before it registered. Reads by that process are denied too',
    'Find that process with `lsof`',
  ],
  'registration.failed': ['A process could not be protected', 'Report it with `error`'],
  'registration.refused': [
    'A call was refused (`outcome`, `reason`). The wrapper gets the same response',
    'See [AGENT.md](../AGENT.md#when-it-does-not-work). Only wrappers should use the socket',
  ],
  'registration.socket_failed': [
    'The socket for wrappers failed',
    'Restart the agent. Protection continues meanwhile',
  ],

  // svc dev
  'dev.keys.broke': ['The embedded key server of svc has a defect', 'Report it'],
  'dev.store.broke': ['The embedded object store of svc has a defect', 'Report it'],
  'dev.wrapper.ended': ['The demo application has ended', 'Restart `svc dev`'],
  'dev.wrapper.says': [
    'A warning or error of the wrapper',
    'See the event that `wrapper_event` names, above',
  ],
  resident: [
    'One worker stays, because svc-init may not start one for each renewal (`reason`)',
    'Nothing: it takes 15 MB more. If the application could replace a file, let another user own the file',
  ],
  'worker.error': [
    'A renewal process of a wrapper that does not stay failed before it could report',
    'Fix what `error` says; the renewal is retried',
  ],
  'worker.failed': [
    'A renewal process ended without its report. The application keeps running, and the renewal is retried; if it was to stay (level `error`), the application is ended',
    'If it recurs, see the previous lines; 137 is a time limit or the memory limit of the container',
  ],

  // operator
  'authorities.changed': ['The file that `svc-ca` is made from has changed'],
  'authorities.foreign': [
    'Another owner has the ConfigMap `svc-ca` of a namespace. Pods that would trust it are refused',
    'Delete it, or label it `app.kubernetes.io/managed-by=svc-operator` to have it overwritten',
  ],
  'authorities.removed': ['The ConfigMap `svc-ca` of a namespace was removed'],
  'authorities.unusable': [
    'A file of CA certificates has none that can be used. Pods get the CAs that it had before',
    'Put `operator.vaultCA` or `operator.storeCA` right',
  ],
  'authorities.written': ['The ConfigMap `svc-ca` of a namespace was written'],
  'certificates.agents.renewed': ['The certificate of the agents was replaced. `changes` says what, and why'],
  'certificates.expiry': [
    'The served certificate expires soon, or has expired',
    'Renew that of `operator.webhook.certSecret`. If the operator makes its own, look for `certificates.failed`',
  ],
  'certificates.failed': [
    'A pass over the certificates failed, and is retried',
    'Fix what `error` says: the operator has to read and write Secrets of its namespace',
  ],
  'certificates.files.failed': [
    'A look at the files of `operator.webhook.certSecret` failed, and is retried',
    'Report it',
  ],
  'certificates.files.unusable': [
    'The files of `operator.webhook.certSecret` are unusable. The former certificate is served',
    'Put the Secret right, as `error` says',
  ],
  'certificates.renewed': [
    'A certificate of the webhook, or of port 8199, was replaced. `changes` says what, and why',
  ],
  'certificates.secret.unusable': [
    'The stored certificate is unusable. The former one is served, and the leader replaces it',
    'If it recurs, find out who else writes the Secret',
  ],
  'cluster.object.too_large': [
    'An object does not fit beside the others of its namespace, or is too large to be built. Only a mark of it is kept',
    'Make the object smaller, or set `operator.resources`. See [the limits](../OPERATOR.md#what-it-does-not-do)',
  ],
  'egress.policy.applied': ['An egress policy was written'],
  'egress.policy.foreign': [
    'Another owner has a policy of the name. The operator leaves it alone',
    'Rename it, or label it `app.kubernetes.io/managed-by=svc-operator` to hand it over',
  ],
  'egress.policy.removed': ['An egress policy that nothing needs any more was removed'],
  'egress.policy.widened': [
    'Another policy lets protected pods reach more',
    'Narrow it, and name what is needed in `spec.egress`',
  ],
  'egress.warning': [
    'A destination of an egress policy is unknown, likely to change, or left out',
    'Do what `error` says. See [egress policies](../OPERATOR.md#egress-policies)',
  ],
  'event.lost': [
    'A Kubernetes event could not be written. It is written with the next occurrence',
    'If it recurs, check that the operator may create events',
  ],
  'image.lookup_failed': [
    'An image could not be looked up. A pod that needs the result is refused',
    'Fix what `error` says, or set `command` in the pod',
  ],
  'image.stale': [
    'A registry does not answer. The known command of the image is used, for a day at most',
    'Check the registry, and the path to it',
  ],
  'kube.version.unknown': [
    'The version of the API server, which `/readyz` waits for, could not be read. It is read again',
    'Check the path to the API server',
  ],
  'leader.attempt.failed': [
    'The lease cannot be read or written. It is tried again',
    'Check the path to the API server, and the Role in the namespace of the operator',
  ],
  'leader.began': ['This replica leads'],
  'leader.handler.failed': ['svc has a defect: a change of the leadership was not handled', 'Report it'],
  'leader.lost': [
    'This replica leads no more, as `reason` says. Another one takes over',
    'If it recurs, check the path to the API server',
  ],
  'leader.other': ['Another replica (`holder`) leads'],
  'leader.release.failed': [
    'The lease could not be given up at the end. Another replica leads after 15 s',
    'Nothing, unless the API server cannot be reached',
  ],
  'leader.released': ['This replica has given up the lease at its end'],
  'namespace.label.foreign': [
    'The label `svc/protected` of a namespace has another value than `true`',
    'Remove the label',
  ],
  'namespace.label.removed': ['The operator removed its label `svc/protected` from a namespace'],
  'namespace.labelled': ['The operator set `svc/protected=true` on a namespace'],
  'node.hits': [
    'Attempts on protected processes, as the agent of a node reported them',
    'See `hit.denied` and the like in the log of that agent: they name the process',
  ],
  'node.silent': [
    'The agent of a node has not reported for 40 s. The node counts as unguarded, although its programs keep enforcing',
    'See the pod of that agent, and its log',
  ],
  'node.state': ['What a node enforces has changed'],
  'nodes.certificates_refused': [
    'New certificates of port 8199 cannot be used. The former ones keep serving',
    'If it recurs, delete the Secret `svc-operator-tls`: the leader makes a new one',
  ],
  'nodes.certificates_renewed': ['Port 8199 serves new certificates. Agents connect again'],
  'nodes.flooded': [
    'An agent sent cheap frames without end: its connections were ended, and none is accepted from its address for 30 s',
    'Find out what runs with the certificate of the agents at that address',
  ],
  'nodes.listening': ['The address that agents report to'],
  'nodes.report_failed': ['svc has a defect: a report was not answered', 'Report it'],
  'nodes.token_review_failed': [
    'The API server does not identify the token of an agent, so its reports are refused',
    'Check that the API server answers, and that the operator may create `tokenreviews`',
  ],
  'reconcile.failed': [
    'The work of a controller on an object (`key`) failed. It is repeated after growing pauses',
    'Fix what `error` says',
  ],
  'webhook.bundle.failed': [
    '`caBundle` of the webhook could not be corrected. It is tried again',
    'Fix what `error` says: the operator has to `get` and `patch` its MutatingWebhookConfiguration',
  ],
  'webhook.bundle.written': ['`caBundle` of the webhook was corrected'],
  'webhook.busy': [
    'A review was refused: while it waited, other reviews used the memory that it needed',
    'Nothing if it is rare, as controllers create the pod again. Otherwise run more replicas, or set `operator.resources`',
  ],
  'webhook.denied': [
    'A pod was refused. `mistakes` has every reason, `user` who asked for it',
    'See [the messages](refusals.md)',
  ],
  'webhook.failed': ['svc has a defect: a review was not answered, and the pod is refused', 'Report it'],
  'webhook.fails.open': [
    '`failurePolicy` of a webhook is `Ignore`: while no replica answers, pods start unprotected',
    'Set it to `Fail`, as the chart does',
  ],
  'webhook.injected': ['A pod was protected. `serviceConfig` names the one that selects it'],
  'webhook.request.invalid': [
    'A request did not come from an API server',
    'Find out who calls. See [API servers that say who they are](../OPERATOR.md#api-servers-that-say-who-they-are)',
  ],
  'webhook.skipped': ['A pod did not ask for protection, or was complete'],
  'webhook.stranger': [
    'A client without a certificate of `operator.webhook.clientCA` has called. One line a minute at most',
    'If it is an API server, fix its AdmissionConfiguration',
  ],
};
