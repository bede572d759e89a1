import { boolean, option, string } from '@oclif/core/flags';
import type { ComponentRules } from '../plugins/validate/read-settings.ts';
import {
  areas,
  clusterSettings,
  formats,
  objectStoreSettings,
  rehearsalSettings,
  secretsServerSettings,
  validateSettings,
} from '../plugins/validate/settings.ts';
import { CheckCommand } from '../runtime/cli/base-command.ts';
import { flagsOf } from '../runtime/cli/setting-flags.ts';
import type { Component } from '../runtime/component/contract.ts';
import { failOns } from '../runtime/report/check-outcome.ts';

const many = { multiple: true, multipleNonGreedy: true } as const;
const own = {
  output: option({ options: formats })({ char: 'o', summary: 'Format of the report', default: 'table' }),
  json: boolean({ summary: 'The same as -o json', exclusive: ['output'] }),
  'fail-on': option({ options: failOns })({ summary: 'Findings that make it fail', default: 'error' }),
  wait: string({
    summary:
      'Repeat for at most this long, until everything passes or only checks without their settings are left',
    helpValue: '5m',
  }),
  ignore: string({ ...many, summary: 'Findings to ignore', helpValue: '<ID[=namespace/name]>' }),
  area: option({ options: areas, ...many })({ summary: 'Check these areas only' }),
  check: string({ ...many, summary: 'Run these checks only', helpValue: '<ID>' }),
  pre: boolean({ summary: 'Check what needs no cluster' }),
  node: boolean({ summary: 'Check only this machine as a node, unless --pre is given' }),
  'rehearse-recovery': boolean({
    summary: 'Only open a sample of --bucket with the recovery keys, unless --pre is given',
  }),
  config: string({ summary: 'YAML file with settings [SVC_CONFIG]', helpValue: '<file>' }),
};

export default class Validate extends CheckCommand {
  static override summary = 'Check before production that everything is set up correctly.';
  static override description =
    'Checks the configuration, the secrets server and its key, the cluster, the operator and the agents, network ' +
    'policies, the object store and its proxy. docs/CHECKS.md has the causes of each finding and how to fix it. Nothing ' +
    'is changed, except for a canary object with --bucket and pods with --probe-pods, which are removed again.\n\n' +
    'Exit status: 0 passed, 1 failed, 2 only warnings under --fail-on warning, 3 wrong usage, 4 not everything could be ' +
    'evaluated.';
  static override flags = {
    ...own,
    ...flagsOf(secretsServerSettings, 'SECRETS SERVER'),
    ...flagsOf(clusterSettings, 'CLUSTER'),
    ...flagsOf(objectStoreSettings, 'OBJECT STORE'),
    ...flagsOf(rehearsalSettings, 'RECOVERY'),
  };
  static override examples = [
    '<%= config.bin %> validate --pre',
    '<%= config.bin %> validate --node',
    '<%= config.bin %> validate --wait 5m --fail-on warning',
    '<%= config.bin %> validate --area kek --auditor-token-file auditor.token -o short',
    '<%= config.bin %> validate --bucket photos --proxy http://127.0.0.1:8190 -o junit > svc.xml',
    '<%= config.bin %> validate --rehearse-recovery --bucket photos --recovery-key recovery.key',
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(Validate);
    const { validate } = await import('../plugins/validate/index.ts');
    const { env, stdout, stderr } = process;
    const { version } = this.config;
    const given = flags as Record<string, string | boolean | undefined>;
    this.exit(await validate({ flags, given, env, stdout, stderr, version, components, proxy, rehearse }));
  }
}

/**
 * The components whose variables and sections of the configuration file are checked; loaded by the checks that need
 * them.
 */
async function components(): Promise<readonly ComponentRules[]> {
  const [proxySettings, proxyRules, operator, agent, wrapper, netpol, store, common] = await Promise.all([
    import('../plugins/proxy/settings.ts'),
    import('../plugins/proxy/config.ts'),
    import('../plugins/operator/settings.ts'),
    import('../plugins/agent/settings.ts'),
    import('../plugins/wrapper/settings.ts'),
    import('../plugins/netpol/settings.ts'),
    import('../objects/upstream/store-settings.ts'),
    import('../runtime/component/settings.ts'),
  ]);
  const { withCommonSettings } = common;
  return [
    {
      name: 'proxy',
      settings: withCommonSettings(proxySettings.proxySettings),
      check: proxyRules.checkProxy,
    },
    {
      name: 'operator',
      settings: withCommonSettings(operator.operatorSettings),
      check: operator.checkOperator,
    },
    { name: 'agent', settings: withCommonSettings(agent.agentSettings), check: agent.checkAgent },
    { name: 'wrapper', settings: wrapper.wrapperSettings },
    { name: 'netpol', settings: netpol.netpolSettings },
    { name: 'audit', settings: store.storeSettings },
    { name: 'validate', settings: validateSettings },
  ];
}

async function rehearse() {
  const { rehearseRecovery } = await import('../plugins/bulk/decrypt/rehearse-recovery.ts');
  return rehearseRecovery;
}

async function proxy(): Promise<Component> {
  const { proxy: component } = await import('../plugins/proxy/index.ts');
  return component as unknown as Component;
}
