import { kvPaths } from '../../keyserver/path.ts';
import { vaultSettings } from '../../keyserver/settings.ts';
import { commonSettings } from '../../runtime/component/settings.ts';
import { envMap } from '../../runtime/environment/env-map.ts';
import { unixSocketPath } from '../../runtime/protocols/grpc.ts';
import { listenAddressOrOff } from '../../runtime/settings/listen-address.ts';
import {
  boolean,
  byteSize,
  decodeOriginalArgs,
  duration,
  enumeration,
  invalidValue,
  matching,
  type Parser,
  path,
  type Resolved,
  type Settings,
} from '../../runtime/settings/setting.ts';

const { logLevel, logFormat } = commonSettings;

/** Longest path of a Unix socket, in bytes: sun_path without its NUL. */
const longestSocketPath = 107;

/**
 * Flags and variables of the wrapper. The application inherits none of these variables (exact names). The program to
 * run may also be given after `--` on the command line.
 */
export const wrapperSettings = {
  secretPaths: {
    variable: 'SVC_SECRET_PATHS',
    flag: 'secrets',
    summary: 'KV paths, separated by commas; every field of each is delivered',
    required: true,
    ...kvPaths(),
  },
  envMap: {
    variable: 'SVC_ENV_MAP',
    flag: 'env-map',
    summary: 'Variable names: <field>=<ENV_VAR> items with commas; a group per path, separated by ;',
    ...envMap(),
  },
  envMapOnly: {
    variable: 'SVC_ENV_MAP_ONLY',
    flag: 'env-map-only',
    summary: 'Deliver the mapped fields only',
    switch: true,
    fallback: 'false',
    ...boolean(),
  },
  originalCmd: {
    variable: 'SVC_ORIGINAL_CMD',
    summary: 'Command to start if none follows --',
    ...path('a command'),
  },
  originalArgs: {
    variable: 'SVC_ORIGINAL_ARGS',
    summary: 'Its arguments, separated by commas; \\, is a comma and \\\\ a backslash inside one',
    expects: 'arguments separated by commas',
    admitsEmpty: true,
    parse: decodeOriginalArgs,
  },
  delivery: {
    variable: 'SVC_DELIVERY',
    flag: 'delivery',
    summary: 'Where the application finds the secrets: env, fd (a protected descriptor) or both',
    fallback: 'both',
    ...enumeration('both', 'env', 'fd'),
  },
  rotation: {
    variable: 'SVC_ROTATION',
    flag: 'rotation',
    summary: 'What to do when secrets change: restart the application, send it SIGHUP, or nothing',
    fallback: 'none',
    ...enumeration('restart', 'sighup', 'none'),
  },
  renewalInterval: {
    variable: 'RENEWAL_INTERVAL',
    flag: 'renewal-interval',
    summary: 'How often the token is renewed and, with rotation, the secrets are checked',
    fallback: '5m',
    ...duration(1_000),
  },
  startupTimeout: {
    variable: 'SVC_STARTUP_TIMEOUT',
    flag: 'startup-timeout',
    summary: 'How long to try while the secrets server is sealed, busy or out of reach',
    fallback: '60s',
    ...duration(),
  },
  stopGrace: {
    variable: 'SVC_STOP_GRACE',
    flag: 'stop-grace',
    summary: 'How long the application may take to end after SIGTERM',
    fallback: '10s',
    ...duration(),
  },
  signalGroup: {
    variable: 'SVC_SIGNAL_GROUP',
    flag: 'signal-group',
    summary: "Forward signals to the application's whole process group",
    switch: true,
    fallback: 'false',
    ...boolean(),
  },
  exec: {
    variable: 'SVC_EXEC',
    flag: 'exec',
    summary: 'Become the application, so that no wrapper stays; only without rotation',
    switch: true,
    fallback: 'false',
    ...boolean(),
  },
  resident: {
    variable: 'SVC_RESIDENT',
    flag: 'resident',
    summary: 'Keep one Node process between renewals; by default only where svc-init cannot start others',
    ...boolean(),
  },
  healthAddr: {
    variable: 'HEALTH_ADDR',
    flag: 'health',
    summary: 'Where /healthz, /readyz and /metrics are served; empty turns them off',
    fallback: ':8081',
    ...listenAddressOrOff(),
  },
  requireMlock: {
    variable: 'SVC_REQUIRE_MLOCK',
    flag: 'require-mlock',
    summary: 'Refuse to run where memory cannot be locked',
    fallback: 'true',
    ...boolean(),
  },
  requireMemfdSecret: {
    variable: 'SVC_REQUIRE_MEMFD_SECRET',
    flag: 'require-memfd-secret',
    summary: 'Refuse to run where the kernel has no memfd_secret (Linux 5.14)',
    switch: true,
    fallback: 'false',
    ...boolean(),
  },
  coreLimit: {
    variable: 'SVC_CORE_LIMIT',
    flag: 'core-limit',
    summary: 'Soft limit of core dumps in bytes, or inherit; 1 also stops dumps into a pipe',
    fallback: '1',
    ...coreLimit(),
  },
  agentAddr: {
    variable: 'SVC_EBPF_AGENT_ADDR',
    flag: 'agent-address',
    summary: 'Node agent to register with before any secret is fetched',
    ...unixSocket(),
  },
  requireAgent: {
    variable: 'SVC_REQUIRE_AGENT',
    flag: 'require-agent',
    summary: 'Refuse to run where that agent cannot be reached',
    fallback: 'true',
    ...boolean(),
  },
  requireEnforcement: {
    variable: 'SVC_REQUIRE_ENFORCEMENT',
    flag: 'require-enforcement',
    summary: 'Refuse to run where no agent keeps others out, after waiting for it',
    switch: true,
    fallback: 'false',
    ...boolean(),
  },
  podUid: {
    variable: 'SVC_POD_UID',
    flag: 'pod-uid',
    summary: 'UID of the pod, for the agent',
    ...matching(/^[\w-]{1,128}$/, 'the UID of a pod'),
  },
  ...vaultSettings,
  logLevel,
  logFormat,
} satisfies Settings;

export type WrapperSettings = typeof wrapperSettings;
export type ResolvedWrapperSettings = Resolved<WrapperSettings>;

/**
 * Parses a gRPC address of a Unix socket with an absolute path or an abstract name (`unix-abstract:`) into the socket's
 * path as connect(2) takes it.
 */
function unixSocket(): Parser<string> {
  const expects = `a gRPC address such as unix:///run/svc/agent.sock, of at most ${longestSocketPath} bytes`;
  const parse = (given: string) => {
    const path = unixSocketPath(given) ?? '';
    const usable = /^(\/[^/]|\0.)/s.test(path) && Buffer.byteLength(path) <= longestSocketPath;
    return usable ? path : invalidValue(expects);
  };
  return { expects, parse };
}

/** Bytes, or `inherit` for the limit that the wrapper inherited. */
function coreLimit(): Parser<number | 'inherit'> {
  const size = byteSize();
  return {
    expects: `inherit, or ${size.expects}`,
    parse: (given) => (given === 'inherit' ? given : size.parse(given)),
  };
}
