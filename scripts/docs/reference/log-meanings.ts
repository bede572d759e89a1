/** What each event of the log means, and what to do about it; nothing to do where it says nothing. */
export const logMeanings: Readonly<Record<string, readonly [means: string, todo?: string]>> = {
  // every component
  crashed: [
    'A defect of ours that nothing handled; the process ends with 70',
    'Report it with `stack`; the supervisor, or Kubernetes, starts it again',
  ],
  listening: ['It has started; the addresses, and of the agent its tier, are in the line'],
  'run.failed': ['It ended by itself', '`nextStep`'],
  'shutdown.begin': ['It was told to end, and finishes what is under way for at most `grace`'],
  'shutdown.forced': ['A second signal came: it ends at once', 'Nothing, if that was meant'],
  'shutdown.overdue': [
    'What was under way did not end within `grace`; it ends with 1',
    'A longer `SVC_SHUTDOWN_GRACE`, where transfers take longer',
  ],
  'start.failed': [
    'It could not start; the exit status goes by `code`',
    '`nextStep`, and every line of `details`',
  ],
  stopped: ['It has ended as it was told to'],

  // proxy
  'proxy.answer.late-error': [
    'A request failed after the head of its answer was out; the caller was told at the end of it',
    'The line before says why; callers repeat it by themselves',
  ],
  'proxy.inline.failed': [
    'An object of few parts keeps its part list beside it; it is whole',
    'Nothing; if it comes often, whether the proxy may copy objects at the store',
  ],
  'proxy.bucket.not-cleared': [
    'A bucket that seems to hold helper objects only was left as it is, because not all of them could be looked at',
    'What `error` says; `svc proxy gc`; open uploads, which are to be completed or aborted',
  ],
  'proxy.bucket.not-restored': [
    'A helper object was removed to delete a bucket, the store then refused that, and it could not be written back',
    'Where `key` is a manifest, whether the object that was written meanwhile can be read; else whether an open upload can be completed',
  ],
  'proxy.manifest.left': [
    'A part list below `.svc/` that nothing needs any more could not be removed',
    '`svc proxy gc` finds it; whether the proxy may delete below `.svc/`',
  ],
  'proxy.memory.unprotected': [
    'Not Linux: core dumps are not turned off, and processes of the same user may read the memory',
    'Run the proxy on Linux',
  ],
  'proxy.object.refused': [
    'An object is not what the proxy wrote, and is not given out; `reason` says in which way',
    'Restore the object; [the reasons](../TROUBLESHOOTING.md#a-client-of-the-proxy-gets-an-error)',
  ],
  'proxy.readiness.lost': [
    'Keys cannot be wrapped and unwrapped (`keys`), or the store cannot be used (`store`); `/readyz` is 503',
    '`error` and `nextStep`; [the conditions](../PROXY.md#when-it-is-ready)',
  ],
  'proxy.readiness.regained': ['What kept the proxy from being ready is over'],
  'proxy.request': ['A request was answered'],
  'proxy.request.broke': ['A defect of ours ended a request with 500', 'Report it with `stack`'],
  'proxy.request.failed': ['A request was answered with a 5xx', 'What `error` and `causes` say'],
  'proxy.upload.records-left': [
    'Records of an upload in parts that has ended could not be removed',
    '`svc proxy gc` finds them; whether the proxy may delete below `.svc/`',
  ],
  'proxy.vault.denied': [
    'The key server refuses to wrap or unwrap',
    'The policy needs `update` on the `path` that the line names',
  ],
  'proxy.vault.expired-version': [
    'The object needs a version of the key that may not unwrap any more',
    'Lower `min_decryption_version`, write the object anew, raise it again',
  ],
  'proxy.vault.not-found': [
    'The transit key, or its mount, does not exist',
    '`--transit-key`, `--transit-mount`',
  ],
  'proxy.vault.rejected': [
    'The key server does not unwrap the key of an object: it is not the one that was written with it',
    'Whoever moved, renamed or edited the object behind the proxy; restore it',
  ],
  'proxy.vault.unavailable': [
    'The key server is away or sealed; callers get 503 and repeat',
    'The key server, and the way to it: egress policy, port, certificate',
  ],
  'proxy.worker.died': [
    'One of `--workers` ended; another one takes its place',
    'Its own last line; if there is none, the log of the kernel, where memory ran out',
  ],
  'proxy.write.unverified': ['Somebody replaced or deleted an object before it could be looked at'],
  'upstream.credentials.missing': [
    'Nothing gives the proxy credentials for the object store',
    '`next`; in a protected pod the service that gives them may have to stand in `spec.egress`',
  ],
  'upstream.denied': [
    'The store refuses the credentials of the proxy; told once a minute, with `count`',
    'The role or keys of the proxy, not those of its callers; the policy of the bucket',
  ],
  'upstream.failed': [
    'The store cannot be reached, or broke an exchange off',
    '`--upstream`, `AWS_CA_BUNDLE`, the egress policy `svc-egress-<namespace>-store`',
  ],
  'vault.login': ['It has a token of the key server'],
  'vault.login.failed': [
    'The key server gives no token; it is tried again after `retry_ms`',
    'By `code`: role, namespace and service account, or the way to the key server',
  ],
  'vault.renewal': ['Its token was renewed'],
  'vault.tls.unverified': [
    '`VAULT_SKIP_VERIFY` is on: whoever is in between can take keys',
    'Unset it; name the authority by `VAULT_CACERT`',
  ],

  // wrapper
  'agent.missing': [
    'No node agent answers; the application starts without, because `SVC_REQUIRE_AGENT` is `false`',
    'Whether the agent of that node is ready, and its socket mounted',
  ],
  'agent.registered': [
    'The node agent has taken the process under its protection, as `tier` and `enforcing` say',
  ],
  'agent.report.failed': [
    'The node agent does not take what the wrapper has measured; it is told again in five minutes',
    'Whether the agent of that node is ready, if it goes on',
  ],
  'agent.waiting': [
    'The node agent does not answer yet; it is tried again, for `SVC_STARTUP_TIMEOUT`',
    'Whether the agent of that node is ready, and its socket mounted',
  ],
  'application.continued': ['The application runs again after a stop'],
  'application.ended': ['The application has ended, by itself or to be started anew'],
  'application.killed': [
    'The application did not end within `SVC_STOP_GRACE` and was killed',
    'A longer grace, or an application that ends at SIGTERM',
  ],
  'application.started': ['The application runs; `descriptor`: it has its secrets in one as well'],
  'application.stopped': ['The application was stopped, by a terminal for one, and has not ended'],
  'config.remark': [
    'A setting that is hardly meant, or meant for development only, as `remark` says',
    'Nothing, if it is meant',
  ],
  'descriptor.unavailable': [
    'The kernel has no `memfd_secret` memory: secrets are in the environment alone',
    'A node with Linux 6.5, or 5.14 with `secretmem.enable=1`; `SVC_DELIVERY=fd` refuses others',
  ],
  'folder.copied': ['Of `--copy-to`: the folder of the wrapper was copied'],
  'folder.installed': [
    'Of `--install-to`: the folder of the wrapper is there; `removed` former versions are gone',
  ],
  'health.listening': ['Where `/healthz`, `/readyz` and `/metrics` are'],
  'memory.lock': [
    'Not all memory of the wrapper could be locked, and `SVC_REQUIRE_MLOCK` is `false`',
    '`CAP_IPC_LOCK` or `LimitMEMLOCK=infinity`',
  ],
  'node.warning': [
    'A warning of Node itself',
    'If it is about a setting of Node, that one; report it otherwise',
  ],
  'orphan.reaped': ['A process that the application had left behind has ended'],
  'orphans.left': [
    'Processes cannot be killed, not even by SIGKILL; the wrapper ends without them',
    'What they hang in, a file system for one',
  ],
  protection: [
    'What protects the secrets of this process, as measured: its lock, core dumps, kind of memory',
  ],
  'protection.unknown': [
    'What protects the application could not be measured; it runs',
    'Whether `/proc` can be read in the container',
  ],
  'secrets.fetched': ['All secrets have been read; how many, from which paths, into which memory'],
  'secrets.keep.failed': [
    'Token or secrets could not be renewed; the application goes on with what it has',
    'What `error` says: the key server is away, or refuses',
  ],
  'secrets.replace.inherited': [
    'Secrets go before variables of the container that have the same names',
    'Nothing, if that is meant; `SVC_ENV_MAP` gives other names',
  ],
  'secrets.rotated': ['Changed secrets were passed on, by the way that `kind` names'],
  'secrets.rotation.refused': [
    'Changed secrets have no room in the descriptor; the application has the former ones',
    'Start the application anew, or `SVC_ROTATION=restart`',
  ],
  'secrets.waiting': [
    'The key server is sealed, away or busy; it is tried again, for `SVC_STARTUP_TIMEOUT`',
    'The key server, and the way to it: egress policy, port, certificate',
  ],
  'secrets.wipe.failed': [
    'Copies of secrets in the memory of the wrapper could not be overwritten',
    'Whether something forbids `process_vm_readv`, such as a seccomp profile',
  ],
  'signal.undeliverable': [
    'A signal could not be passed on to the application',
    'Whether the application runs as a user whom the wrapper may not signal',
  ],
  starting: ['The configuration is read, and the process protected as `lock` says'],
  'token.kept': ['The token was renewed or replaced'],

  // node agent
  'guard.beat.failed': [
    'A round that should have tried whether protection works failed; the next one follows',
    'Report it, if it goes on',
  ],
  'guard.canary.failed': [
    'A read of the decoy went through, or somebody changed the programs: they are loaded anew, or the next tier is',
    'Who has changed them; `svc_agent_tier` says what is in force since',
  ],
  'guard.attached': [
    'The programs that are attached, and why one runs at every system call or does not',
    'None; with `passable`, calls can pass by the hooks on this kernel: boot with `preempt=voluntary`',
  ],
  'guard.tier': [
    'Another tier is in force; `warn` where it does not enforce',
    '`passed_over` says why not a higher one: [AGENT.md](../AGENT.md#when-it-does-not-work)',
  ],
  'hit.denied': [
    'Somebody was kept from reading a protected process',
    'Who it was: the `source_…` fields; a tool that reads all (`ps`, profilers), or an attack',
  ],
  'hit.killed': [
    'Somebody who was about to read a protected process was killed',
    'Who it was: the `source_…` fields; a tool that reads all (`ps`, profilers), or an attack',
  ],
  'hit.seen': [
    'Somebody read a protected process, or could have: this tier, or `--enforce false`, only reports',
    'Who it was: the `source_…` fields. Change the secrets, if it was nobody of yours',
  ],
  'hits.more': [
    'So many attempts of the last second are not in the log',
    '`svc_agent_hits_total` has all of them',
  ],
  'hits.unknown': [
    'Programs of another version still write to the ring; what they tell is not understood',
    'Nothing during an upgrade; else `svc run agent --unload`, and start it again',
  ],
  'kube.handler.failed': ['A defect of ours, met at a change in the cluster', 'Report it'],
  'kube.watch.failed': [
    'The API server was lost, or refuses; what is known of the cluster stays, and it is tried again',
    'By `code`: the way to the API server, or the permissions that the chart gives',
  ],
  'operator.connected': ['The operator takes reports; `queued` attempts are told now'],
  'operator.unreachable': [
    'The operator does not take reports; protection goes on, and the newest attempts are kept',
    'Whether an operator is ready, and port 8199 open; files of `SVC_BROKER_TLS_…`',
  ],
  'pod.covered': ['The processes of a labelled pod are protected'],
  'pod.crowded': [
    'A cgroup has more processes than the table keeps for one; those beyond are covered only while they stay in it',
    'Fewer processes at a time in this container; whether they are meant',
  ],
  'pod.released': ['A pod has lost its label, or is gone'],
  'pod.uncovered': [
    'A labelled pod is not in the table in the kernel',
    'What `reason` says: mount the cgroups of the host, or have fewer protected pods on the node',
  ],
  'pods.node.unchecked': [
    'Whether the node has the name that was given could not be asked',
    'Permission `get` on `nodes`; the way to the API server',
  ],
  'pods.node.unknown': [
    'There is no node of that name, so that no pod is ever found',
    '`NODE_NAME` from `spec.nodeName`',
  ],
  'pods.off': [
    'Pods are not followed; wrappers register all the same',
    'Nothing without a cluster; else a service account, or `KUBECONFIG`',
  ],
  'pods.watch': ['Pods of this node are followed'],
  registered: ['A wrapper has registered; its process and what it starts are protected'],
  'registered.opened_before': [
    'Somebody had the process open before it registered; reads of that are denied as well',
    'Who it is: `lsof`',
  ],
  'registration.failed': ['A process could not be protected', 'What `error` says; report it'],
  'registration.refused': [
    'A call was refused, as `outcome` and `reason` say; the wrapper is told, too',
    '[AGENT.md](../AGENT.md#when-it-does-not-work); a process that is no wrapper has no business there',
  ],
  'registration.socket_failed': [
    'The socket for wrappers broke',
    'Start the agent again; protection goes on',
  ],

  // svc dev
  'dev.keys.broke': ['The embedded key server met a defect of ours', 'Report it'],
  'dev.store.broke': ['The embedded object store met a defect of ours', 'Report it'],
  'dev.wrapper.ended': ['The demo application has ended', 'Start `svc dev` again'],
  'dev.wrapper.says': ['A warning or error of the wrapper', 'By `wrapper_event`, above'],
};
