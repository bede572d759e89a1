import { vaultRules } from '../../../keyserver/settings.ts';
import { loadConfigFile } from '../../../runtime/component/read-config.ts';
import { messageOf, SvcError } from '../../../runtime/errors.ts';
import {
  applyRules,
  findGiven,
  hint,
  nearest,
  type SettingsCheck as Rules,
  resolveSettings,
  sectionOf,
  wrongValue,
} from '../../../runtime/settings/resolve.ts';
import { isLoopback, type Settings } from '../../../runtime/settings/setting.ts';
import {
  type Check,
  type CheckContext,
  type CheckFailure,
  failed,
  passed,
  skipped,
  verdict,
} from '../check.ts';
import { localCheck } from '../make-check.ts';
import type { ComponentRules, ValidateEnv } from '../read-settings.ts';

export const sections = localCheck('SVC-CONFIG-002', 'error', {
  title: 'The configuration file starts the components that it has sections for',
  cause:
    'The name of a section is mistyped; a section has an unknown key or a wrong value, or lacks a required one; or a file that it names does not exist.',
  fix: 'Fix what is listed: the component refuses to start with the same message.',
  async run(context) {
    const { configFile } = context;
    if (configFile === undefined)
      return skipped('No configuration file is named: give --config or SVC_CONFIG.');
    const file = await loadConfigFile(configFile);
    const { content } = file;
    const names = typeof content === 'object' && content !== null ? Object.keys(content) : [];
    const all = await context.components();
    const components = all.filter(({ name, check }) => check !== undefined && names.includes(name));
    const mistyped = mistypedIn(names, all);
    if (components.length + mistyped.length === 0)
      return skipped('The file has no section of a component that can be looked at.');
    return verdict([...mistyped, ...components.flatMap((component) => errorsIn(component, file, context))]);
  },
});

export const unknownVariables = localCheck('SVC-CONFIG-003', 'warning', {
  title: 'No variable name is a misspelling of one that svc reads',
  cause: 'The name of a variable differs by a letter or two from one that svc reads, so svc ignores it.',
  fix: 'Correct the name, or remove the variable.',
  async run({ env, components }) {
    const known = (await components()).flatMap(({ settings }) =>
      Object.values(settings).map(({ variable }) => variable),
    );
    const given = Object.keys(env).filter((name) => /^(SVC|VAULT)_/.test(name) && !ofService.test(name));
    return verdict(given.flatMap((name) => mistyped(name, known)));
  },
});

export const nodeVersion = localCheck('SVC-CONFIG-004', 'warning', {
  title: 'Node.js is a version that still receives fixes',
  cause:
    'The first node in PATH has no long-term support, or its support has ended. Vulnerabilities in it are no longer fixed.',
  fix: 'Install a version with long-term support, or run svc by npx, which brings one along.',
  async run({ host, now }) {
    const { nodeVersion: version } = host;
    const end = ends[/^v(\d+)\./.exec(version)?.[1] ?? ''];
    if (end === undefined) return skipped(`This svc does not know when fixes for ${version} end.`);
    if (now() < Date.parse(end)) return passed(`${version}, until ${end}`);
    return failed({ subject: 'node', message: `It is ${version}, and fixes ended on ${end}.` });
  },
});

const verification = localCheck('SVC-CONFIG-005', 'error', {
  title: 'Certificates are verified',
  cause:
    'VAULT_SKIP_VERIFY or NODE_TLS_REJECT_UNAUTHORIZED was set for a test. Anyone on the network path can then read secrets and keys.',
  fix: 'Unset them, and name the private authority in VAULT_CACERT, SVC_BROKER_TLS_CA or AWS_CA_BUNDLE.',
  async run({ env, config }) {
    const failures: CheckFailure[] = [];
    if (config.vaultSkipVerify)
      failures.push({ subject: 'VAULT_SKIP_VERIFY', message: 'The secrets server is not verified.' });
    if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
      failures.push({ subject: 'NODE_TLS_REJECT_UNAUTHORIZED', message: 'No server is verified.' });
    return verdict(failures);
  },
});

const encryptedAddresses = localCheck('SVC-CONFIG-006', 'error', {
  title: 'Servers are addressed by https://',
  cause:
    'An address begins with http://. Tokens, secrets and data keys would cross the network in the clear.',
  fix: 'Use https://. A development server on this machine is reported as a warning.',
  async run({ config }) {
    const given = [
      { subject: 'VAULT_ADDR', url: config.vaultAddr },
      { subject: 'SVC_BROKER_ADDR', url: config.brokerAddr },
      { subject: 'SVC_PROXY_UPSTREAM', url: config.upstream },
    ];
    if (given.every(({ url }) => url === undefined)) return skipped('No server is named.');
    return verdict(given.flatMap(({ subject, url }) => inTheClear(subject, url)));
  },
});

const loginDescribed = localCheck('SVC-CONFIG-007', 'error', {
  title: 'The login to the secrets server is configured',
  cause: 'A role, a token or one file of a pair is missing, or a file that is named cannot be read.',
  fix: 'For pods set VAULT_AUTH_ROLE; elsewhere name a file with a token in VAULT_TOKEN_FILE.',
  async run({ config }) {
    const { vaultAddr } = config;
    if (vaultAddr === undefined) return skipped('No secrets server is named: set VAULT_ADDR.');
    return verdict(applyRules({ ...config, vaultAddr }, vaultRules).map(asFailure));
  },
});

const tokenInEnvironment = localCheck('SVC-CONFIG-008', 'warning', {
  title: 'No token for the secrets server is in the environment',
  cause:
    'VAULT_TOKEN is set. What starts in this environment inherits it, and other processes of the same user can read it.',
  fix: 'Use kubernetes auth in pods, and VAULT_TOKEN_FILE elsewhere.',
  async run({ env }) {
    if (!env['VAULT_TOKEN']) return passed();
    return failed({ subject: 'VAULT_TOKEN', message: 'It is set.' });
  },
});

const tools = localCheck('SVC-CONFIG-009', 'info', {
  title: 'Tools for the cluster are installed',
  cause: 'They are not installed on this machine, or are not in PATH.',
  fix: 'Install kubectl and Helm 3 if this machine is used to manage the cluster.',
  async run({ host }) {
    const missing = wanted.filter(({ name }) => !host.hasProgram(name));
    return verdict(missing.map(({ name, message }) => ({ subject: name, message })));
  },
});

const values = localCheck('SVC-CONFIG-001', 'error', {
  title: 'Every variable that is set has a valid value',
  cause: 'A value is mistyped, or does not have the form that the variable requires.',
  fix: 'Set each value as the message says; svc run <component> --help lists the forms.',
  async run({ env, errors, components }) {
    const ofComponents = (await components()).flatMap((component) => wrongIn(component, env));
    const found = [...new Set([...errors, ...ofComponents])].sort();
    return verdict(found.map(asFailure));
  },
});

export const configurationChecks: readonly Check[] = [
  values,
  sections,
  unknownVariables,
  nodeVersion,
  verification,
  encryptedAddresses,
  loginDescribed,
  tokenInEnvironment,
  tools,
];

const wanted = [
  {
    name: 'kubectl',
    message: 'It is not in PATH; svc does not need it; you do, to apply what svc netpol writes.',
  },
  { name: 'helm', message: 'It is not in PATH; the operator can also be installed by manifests/plain.' },
];

function inTheClear(subject: string, url: URL | undefined): readonly CheckFailure[] {
  if (url === undefined || url.protocol === 'https:') return [];
  const level = isLoopback(url.hostname) ? 'warning' : 'error';
  return [{ subject, level, message: `It is http://${url.host}.` }];
}

/** Last day of fixes, by major version. Source: https://github.com/nodejs/Release/blob/main/schedule.json */
const ends: Readonly<Record<string, string>> = {
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
  26: '2029-04-30',
};

/** Suffixes of variables that Kubernetes sets for Services whose names begin with svc. */
const ofService = /_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_.*)?)$/;

/** Maximum edit distance of a typo. Names further away may belong to other programs that use the same prefix. */
const farthest = 2;

function mistyped(name: string, known: readonly string[]): readonly CheckFailure[] {
  if (known.includes(name)) return [];
  const meant = nearest(name, known, farthest);
  return meant === undefined ? [] : [{ subject: name, message: `svc ignores it; it reads ${meant}.` }];
}

/** Plugins have their own sections, so only a name similar to a known one is an error. */
function mistypedIn(names: readonly string[], all: readonly ComponentRules[]): readonly CheckFailure[] {
  const known = all.map(({ name }) => name);
  return names
    .filter((name) => !known.includes(name) && hint(name, known) !== '')
    .map((subject) => ({ subject, message: `No component has such a section${hint(subject, known)}.` }));
}

type File = Awaited<ReturnType<typeof loadConfigFile>>;

function errorsIn(component: ComponentRules, file: File, { env }: CheckContext): readonly CheckFailure[] {
  const { name, settings, check } = component;
  try {
    resolveSettings(settings, { env, file: sectionOf(file, name, settings) }, check as Rules<Settings>);
    return [];
  } catch (error) {
    const details = error instanceof SvcError ? error.details : [];
    return details.length > 0 ? details.map(asFailure) : [{ subject: name, message: `${messageOf(error)}.` }];
  }
}

/** Invalid variables of a component. Missing ones are checked only for components that the file configures. */
function wrongIn({ settings }: ComponentRules, env: ValidateEnv): readonly string[] {
  return Object.values(settings).flatMap((setting) => {
    const { fallback: _, ...withoutDefault } = setting;
    const given = findGiven(withoutDefault, { env });
    if (given === undefined) return [];
    try {
      setting.parse(given.text);
      return [];
    } catch (error) {
      return [wrongValue(setting, given, error)];
    }
  });
}

/** Errors begin with their subject and a colon. */
function asFailure(error: string): { subject: string; message: string } {
  const at = error.indexOf(': ');
  if (at < 0) return { subject: 'configuration', message: `${error}.` };
  return { subject: error.slice(0, at), message: `${error.slice(at + 2)}.` };
}
