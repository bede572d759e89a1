/** What each event of the log means, and what to do about it. An event without the second text needs no action. */
export const logMeanings: Readonly<Record<string, readonly [means: string, todo?: string]>> = {
  // every component
  crashed: [
    'svc has a defect: an exception was not handled, and the process exits with 70',
    'Report it with `stack`. The supervisor, or Kubernetes, starts the process again',
  ],
  listening: ['The component has started. The line has its addresses, and the tier of the agent'],
  'run.failed': ['The component ended by itself', 'Do what `nextStep` says'],
  'shutdown.begin': [
    'The component received SIGTERM or SIGINT and finishes what is under way, for `grace` at most',
  ],
  'shutdown.forced': ['A second signal arrived: the component ends at once', 'Nothing, if this was intended'],
  'shutdown.overdue': [
    'Work under way did not end within `grace`; the component exits with 1',
    'Set a longer `SVC_SHUTDOWN_GRACE` if transfers take longer',
  ],
  'start.failed': [
    'The component could not start. `code` determines the exit status',
    'Do what `nextStep` and each line of `details` say',
  ],
  stopped: ['The component has ended as requested'],

  // proxy
  'proxy.access': [
    'A request is over (`--access-log`): who asked for what, how it was answered, bytes of both bodies, the version of the transit ' +
      'key. `keyHash` is an HMAC of bucket and key',
  ],
  'proxy.answer.late-error': [
    'A request failed after the headers of its response were sent; the end of the response tells the caller',
    'The line before gives the reason. Callers repeat the request by themselves',
  ],
  'proxy.inline.failed': [
    'The part list of an object of few parts could not be moved into the object and stays beside it. The object is complete',
    'Nothing. If it occurs often, check that the proxy may copy objects at the store',
  ],
  'proxy.bucket.not-cleared': [
    'A bucket seems to hold only helper objects. It was left unchanged, because not all of them could be read',
    'Fix what `error` says, run `svc proxy gc`, and complete or abort open uploads',
  ],
  'proxy.bucket.not-restored': [
    'A helper object was removed in order to delete a bucket. The store then refused to delete the bucket, and the object could not be written back',
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
    'The files of the certificate for callers have changed and cannot be used, for `reason`. The one before is still shown',
    'Write a certificate and its key that belong together. It is tried again when the files change',
  ],
  'proxy.tls.renewed': ['New connections of callers are shown the certificate that the files hold now'],
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
    'The key server does not unwrap the data key of an object: the key or what it is bound to has changed',
    'Find out who moved, renamed or edited the object behind the proxy, and restore it',
  ],
  'proxy.vault.unavailable': [
    'The key server cannot be reached or is sealed. Callers get 503 and repeat their requests',
    'Check the server, and the path to it: egress policy, port, certificate',
  ],
  'proxy.worker.died': [
    'A process of `--workers` ended; another one replaces it',
    'Read its last line. If there is none, look for a lack of memory in the log of the kernel',
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
    'The store cannot be reached, or it ended an exchange early',
    'Check `--upstream`, `AWS_CA_BUNDLE` and the egress policy `svc-egress-<namespace>-store`',
  ],
  'vault.answers': ['The key server answers again, after `seconds`'],
  'vault.hangs': [
    'The key server gave no answer within `timeout_ms`. Callers get 503 after half a second until it answers; each such request is not logged by itself',
    'Find out what the key server waits for (its storage, a lock, a network that drops packets). The proxy goes on asking',
  ],
  'vault.login': ['The client has a token of the key server'],
  'vault.login.failed': [
    'The login at the key server failed. It is repeated after `retry_ms`',
    'Depending on `code`, check role, namespace and service account, or the path to the key server',
  ],
  'vault.renewal': ['The token was renewed'],
  'vault.tls.unverified': [
    '`VAULT_SKIP_VERIFY` is on: anyone on the path to the server can intercept keys',
    'Unset it, and name the authority by `VAULT_CACERT`',
  ],

  // wrapper
  'agent.missing': [
    'No node agent responds. The application starts without one, because `SVC_REQUIRE_AGENT` is `false`',
    'Check that the agent of this node is ready, and that its socket is mounted',
  ],
  'agent.covered': [
    'Programs of a node agent keep others out of the process, which has no address of an agent',
  ],
  'agent.registered': ['The node agent protects the process, as `tier` and `enforcing` say'],
  'agent.report.failed': [
    'The node agent does not accept what the wrapper has measured. The report is repeated in five minutes',
    'If it continues, check that the agent of this node is ready',
  ],
  'agent.waiting': [
    'The node agent does not respond, or cover the process, yet. The wrapper retries for `SVC_STARTUP_TIMEOUT`',
    'Check that the agent of this node is ready, and that its socket is mounted, where the pod has it',
  ],
  'application.continued': ['The application runs again after a stop'],
  'application.ended': ['The application has ended, by itself or for a restart'],
  'application.killed': [
    'The application did not end within `SVC_STOP_GRACE` and was killed',
    'Set a longer grace, or make the application end at SIGTERM',
  ],
  'application.started': [
    'The application runs. `descriptor` says whether it has its secrets in a descriptor too',
  ],
  'application.stopped': ['The application was stopped, for example by a terminal, and has not ended'],
  'config.remark': [
    'A setting is probably a mistake, or is for development only, as `remark` says',
    'Nothing, if it is intended',
  ],
  'descriptor.unavailable': [
    'The kernel has no `memfd_secret` memory: secrets are in the environment alone',
    'Use a node with Linux 6.5, or 5.14 with `secretmem.enable=1`. With `SVC_DELIVERY=fd` the wrapper refuses other nodes',
  ],
  'folder.copied': ['`--copy-to` has copied the folder of the wrapper'],
  'folder.installed': [
    '`--install-to` has installed the folder of the wrapper and removed as many earlier versions as `removed` says',
  ],
  'health.listening': ['The address of `/healthz`, `/readyz` and `/metrics`'],
  'memory.lock': [
    'Not all memory of the wrapper could be locked, and `SVC_REQUIRE_MLOCK` is `false`',
    'Grant `CAP_IPC_LOCK`, or set `LimitMEMLOCK=infinity`',
  ],
  'health.failed': [
    'The process that serves the health endpoints of a wrapper that does not stay has ended. Another one is started',
    'If it comes again, report it with `exit_code`',
  ],
  'node.warning': [
    'A warning of Node itself',
    'If it concerns a setting of Node, change that; otherwise report it',
  ],
  'orphan.reaped': ['A process that the application had left behind has ended'],
  'orphans.left': [
    'Processes cannot be killed, not even by SIGKILL; the wrapper ends without them',
    'Find out what blocks them, for example a file system',
  ],
  protection: [
    'What protects the secrets of this process, as measured: memory lock, core dumps, kind of memory',
  ],
  'protection.unknown': [
    'The protection of the application could not be measured. The application runs',
    'Check that `/proc` can be read in the container',
  ],
  'secrets.fetched': [
    'All secrets have been read. The line says how many, from which paths and into which memory',
  ],
  'secrets.keep.failed': [
    'Token or secrets could not be renewed. The application keeps what it has',
    'Do what `error` says: the secrets server cannot be reached, or refuses',
  ],
  'secrets.replace.inherited': [
    'Secrets replace variables of the container that have the same names',
    'Nothing, if this is intended. `SVC_ENV_MAP` gives them other names',
  ],
  'secrets.rotated': ['Changed secrets were passed on; `kind` says how'],
  'secrets.rotation.refused': [
    'Changed secrets do not fit into the descriptor. The application has the earlier ones',
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
    'A signal could not be passed on to the application',
    'Check whether the application runs as a user whom the wrapper may not signal',
  ],
  starting: ['The configuration has been read, and the process is protected as `lock` says'],
  'token.kept': ['The token was renewed or replaced'],

  // node agent
  'guard.beat.failed': [
    'A periodic check of the protection could not be completed. The next one follows',
    'Report it, if it continues',
  ],
  'guard.canary.failed': [
    'A read of the decoy succeeded, or somebody changed the programs. They are loaded again, or those of the next tier',
    'Find out who changed them. `svc_agent_tier` shows the tier in force since then',
  ],
  'guard.attached': [
    'The attached programs, and why one does or does not run at every system call',
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
    'The `source_…` fields name it. Change the secrets if it was not a tool of yours',
  ],
  'hits.more': [
    'Some attempts of the last second are not in the log; the line has their number',
    'See `svc_agent_hits_total`, which counts all of them',
  ],
  'hits.unknown': [
    'Programs of another version still write to the ring buffer, in a format that this agent does not read',
    'Nothing during an upgrade. Otherwise run `svc run agent --unload`, and start the agent again',
  ],
  'kube.handler.failed': ['svc has a defect: a change in the cluster was not handled', 'Report it'],
  'kube.watch.failed': [
    'The connection to the API server was lost, or the server refuses. The agent keeps what it knows of the cluster and retries',
    'Depending on `code`, check the path to the API server, or the permissions that the chart grants',
  ],
  'operator.connected': ['The operator accepts reports. `queued` attempts are reported now'],
  'operator.unreachable': [
    'The operator does not accept reports. Protection continues, and the newest attempts are kept',
    'Check that an operator is ready, that port 8199 is open, and the files of `SVC_BROKER_TLS_…`',
  ],
  'pod.covered': ['The processes of a labelled pod are protected'],
  'pod.crowded': [
    'A cgroup has more processes than the table holds for one cgroup. The others are covered only while they stay in it',
    'Check whether so many processes are intended, and run fewer at a time in this container',
  ],
  'pod.released': ['A pod has lost its label, or has ended'],
  'pod.uncovered': [
    'A labelled pod is not in the table in the kernel',
    'Do what `reason` says: mount the cgroups of the host, or run fewer protected pods on the node',
  ],
  'pods.node.unchecked': [
    'The agent could not check whether a node has the given name',
    'Grant `get` on `nodes`, and check the path to the API server',
  ],
  'pods.node.unknown': [
    'There is no node of that name, so no pod is found',
    'Set `NODE_NAME` from `spec.nodeName`',
  ],
  'pods.off': [
    'The agent does not watch pods. Wrappers can still register',
    'Nothing without a cluster. Otherwise give the agent a service account, or `KUBECONFIG`',
  ],
  'pods.watch': ['The agent watches the pods of this node'],
  registered: ['A wrapper has registered. Its process and its descendants are protected'],
  'token.guarded': [
    'The volume at `path`, with the token of wrappers and proxy of `pod`, opens for the process `pid`, others that are named so, and the kubelet only',
  ],
  'token.kubelet': ['The process that renews the tokens of this node, and may open them'],
  'token.kubelet_failed': [
    'The kubelet could not be looked for; it is looked for again in two seconds',
    'If it recurs, report it with `error`',
  ],
  'token.unguarded': [
    'The volume with the token of the wrappers of `pod` is not guarded, for `reason`: whoever has its file permissions opens it',
    'Where the kubelet is not found, have it listen on port 10250, and run the agent with `hostPID: true`',
  ],
  'registered.opened_before': [
    'Another process had opened this one before it registered. Its reads are denied too',
    'Find it with `lsof`',
  ],
  'registration.failed': ['A process could not be protected', 'Report it with `error`'],
  'registration.refused': [
    'A call was refused, as `outcome` and `reason` say. The wrapper gets the same response',
    'See [AGENT.md](../AGENT.md#when-it-does-not-work). Only wrappers should use the socket',
  ],
  'registration.socket_failed': [
    'The socket for wrappers failed',
    'Start the agent again. Protection continues meanwhile',
  ],

  // svc dev
  'dev.keys.broke': ['The embedded key server of svc has a defect', 'Report it'],
  'dev.store.broke': ['The embedded object store of svc has a defect', 'Report it'],
  'dev.wrapper.ended': ['The demo application has ended', 'Start `svc dev` again'],
  'dev.wrapper.says': [
    'A warning or error of the wrapper',
    'See the event that `wrapper_event` names, above',
  ],
  resident: [
    'The wrapper stays as a Node process between renewals, because svc-init cannot take over (`reason`)',
    'Nothing: it takes 15 MB more. A file that the application could replace is better owned by another user',
  ],
  'worker.error': [
    'A process that came for a renewal, where the wrapper does not stay, failed before it could report',
    'Do what `error` says; the renewal is tried again',
  ],
  'worker.failed': [
    'A process that came for a renewal ended without its report. The application runs on, and the renewal is tried again',
    'If it continues, see the lines before it; 137 is a time limit or a memory limit of the container',
  ],
};
