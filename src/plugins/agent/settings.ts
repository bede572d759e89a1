import type { Tier } from '../../runtime/protocols/protection/report.ts';
import {
  type ListenAddress,
  listenAddress,
  listenAddressOrOff,
} from '../../runtime/settings/listen-address.ts';
import { applyRules, type Rule } from '../../runtime/settings/resolve.ts';
import {
  boolean,
  duration,
  integer,
  invalidValue,
  list,
  type Parser,
  path,
  type Resolved,
  type Settings,
  text,
} from '../../runtime/settings/setting.ts';
import type { OperatorAddress } from './operator/contract.ts';

/** `sun_path` without its NUL, less the length of the temporary name under which the socket is created. */
const longestSocketPath = 90;

const expects = 'host:port such as svc-operator.svc-system.svc:8199, 10.0.0.1:8199 or [fd00::1]:8199';

/** The operator's address and the agent's identity; without an address the agent works alone. */
export const operatorSettings = {
  operatorAddr: {
    variable: 'SVC_OPERATOR_ADDR',
    flag: 'operator-address',
    summary: 'Operator to report to over mutual TLS; without it the agent works alone',
    ...operatorAddress(),
  },
  operatorTlsCert: {
    variable: 'SVC_OPERATOR_TLS_CERT',
    flag: 'operator-cert',
    summary: 'PEM file with the certificate of the agent, for the operator',
    ...path('a PEM file'),
  },
  operatorTlsKey: {
    variable: 'SVC_OPERATOR_TLS_KEY',
    flag: 'operator-key',
    summary: 'PEM file with its private key',
    ...path('a PEM file'),
  },
  operatorTlsCa: {
    variable: 'SVC_OPERATOR_TLS_CA',
    flag: 'operator-ca',
    summary: 'PEM file with the authorities that may issue the certificate of the operator',
    ...path('a PEM file'),
  },
  operatorToken: {
    variable: 'SVC_OPERATOR_TOKEN_FILE',
    flag: 'operator-token',
    summary: 'File with a service-account token of this pod, which proves its node to the operator; reread',
    ...path('a file'),
  },
} satisfies Settings;

/** Flags and variables of `svc run agent`. */
export const agentSettings = {
  socket: {
    variable: 'SVC_AGENT_SOCKET',
    flag: 'socket',
    summary: 'Unix socket where wrappers register',
    fallback: '/run/svc/agent.sock',
    ...socketPath(),
  },
  health: {
    variable: 'SVC_AGENT_HEALTH',
    flag: 'health',
    summary: 'Where /healthz, /readyz and /metrics are served; empty turns them off',
    fallback: ':9090',
    ...listenAddressOrOff(),
  },
  enforce: {
    variable: 'SVC_AGENT_ENFORCE',
    flag: 'enforce',
    summary: 'false: report attempts and let them pass',
    fallback: 'true',
    ...boolean(),
  },
  reactiveKill: {
    variable: 'SVC_AGENT_REACTIVE_KILL',
    flag: 'reactive-kill',
    summary: 'true: where an attempt cannot be denied, kill the process that makes it; false: kill nothing',
    fallback: 'false',
    ...boolean(),
  },
  guardKernelMemory: {
    variable: 'SVC_AGENT_GUARD_KERNEL_MEMORY',
    flag: 'guard-kernel-memory',
    summary: 'false: leave /proc/kcore and /dev/mem alone; else they are guarded while anything is protected',
    fallback: 'true',
    ...boolean(),
  },
  guardPerf: {
    variable: 'SVC_AGENT_GUARD_PERF',
    flag: 'guard-perf',
    summary: 'false: leave samples of user stacks by perf alone; else guarded while anything is protected',
    fallback: 'true',
    ...boolean(),
  },
  guardInterpreters: {
    variable: 'SVC_AGENT_GUARD_INTERPRETERS',
    flag: 'guard-interpreters',
    summary: 'false: let binfmt_misc be changed; else its files are read-only while anything is protected',
    fallback: 'true',
    ...boolean(),
  },
  requireEnforcement: {
    variable: 'SVC_AGENT_REQUIRE_ENFORCEMENT',
    flag: 'require-enforcement',
    summary: 'true: ready only while attempts are denied, or their processes killed',
    fallback: 'false',
    ...boolean(),
  },
  tiers: {
    variable: 'SVC_AGENT_TIERS',
    flag: 'tiers',
    summary: 'Tiers to try, in this order: 1 BPF LSM, 2 fmod_ret, 3 tracepoints',
    fallback: '1,2,3',
    ...list(tier()),
  },
  canaryInterval: {
    variable: 'SVC_AGENT_CANARY_INTERVAL',
    flag: 'canary-interval',
    summary: 'Time between two proofs that the tier works',
    fallback: '2s',
    ...duration(100, 60_000),
  },
  bpfFolder: {
    variable: 'SVC_AGENT_BPF_FOLDER',
    flag: 'bpf-folder',
    summary: 'Folder on a BPF file system, where programs and tables outlive the agent',
    fallback: '/sys/fs/bpf/svc',
    ...path('an absolute path'),
  },
  cgroupRoot: {
    variable: 'SVC_CGROUP_ROOT',
    flag: 'cgroup-root',
    summary: "Where the host's cgroups (v2) are mounted",
    fallback: '/sys/fs/cgroup',
    ...path('an absolute path'),
  },
  nodeName: {
    variable: 'NODE_NAME',
    flag: 'node-name',
    summary: 'Name of this node in the cluster; unset: the host name',
    ...text('a node name'),
  },
  ...operatorSettings,
} satisfies Settings;

export type AgentSettings = typeof agentSettings;
export type AgentConfig = Resolved<AgentSettings>;

function socketPath(): Parser<string> {
  const expects = `an absolute path of at most ${longestSocketPath} bytes`;
  const parse = (given: string) =>
    given.startsWith('/') && Buffer.byteLength(given) <= longestSocketPath ? given : invalidValue(expects);
  return { expects, parse };
}

/** A tier with programs. */
function tier(): Parser<Tier> {
  const { parse } = integer(1, 3);
  const expects = '1, 2 or 3';
  return { expects, parse: (given) => parse(given) as Tier };
}

export type ResolvedOperatorSettings = Resolved<typeof operatorSettings>;

/** The operator's host and port, both usable as a target. */
function operatorAddress(): Parser<OperatorAddress> {
  return { expects, parse };
}

function parse(text: string): OperatorAddress {
  const { host, port } = addressIn(text);
  return host === undefined || port === 0 ? invalidValue(expects) : { host, port };
}

function addressIn(text: string): ListenAddress {
  try {
    return listenAddress().parse(text);
  } catch {
    return invalidValue(expects);
  }
}

const tlsFiles: readonly TlsFile[] = ['operatorTlsCert', 'operatorTlsKey', 'operatorTlsCa'];

/**
 * The agent talks to the operator over mutual TLS or not at all; a token is for certificates that do not name the node.
 * The files are not read here: their Secret may be mounted before the operator has filled it.
 */
export const operatorRules: readonly Rule<ResolvedOperatorSettings>[] = [
  ...tlsFiles.map(required),
  ...[...tlsFiles, 'operatorToken' as const].map(withoutAddress),
];

const rules: readonly Rule<AgentConfig>[] = [
  ({ enforce, requireEnforcement }) =>
    requireEnforcement && !enforce
      ? 'SVC_AGENT_REQUIRE_ENFORCEMENT: must be false, because SVC_AGENT_ENFORCE is false'
      : undefined,
  ...operatorRules,
];

export const checkAgent = (config: AgentConfig): readonly string[] => applyRules(config, rules);

type TlsFile = 'operatorTlsCert' | 'operatorTlsKey' | 'operatorTlsCa';
type File = TlsFile | 'operatorToken';

function required(file: TlsFile): Rule<ResolvedOperatorSettings> {
  return (config) =>
    config.operatorAddr !== undefined && config[file] === undefined
      ? `${operatorSettings[file].variable}: required, because SVC_OPERATOR_ADDR is set`
      : undefined;
}

function withoutAddress(file: File): Rule<ResolvedOperatorSettings> {
  return (config) =>
    config.operatorAddr === undefined && config[file] !== undefined
      ? `${operatorSettings[file].variable}: has no effect, because SVC_OPERATOR_ADDR is not set`
      : undefined;
}
