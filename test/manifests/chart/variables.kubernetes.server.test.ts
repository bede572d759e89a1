import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { agentSettings } from '../../../src/plugins/agent/settings.ts';
import { gcSettings } from '../../../src/plugins/bulk/gc/settings.ts';
import { operatorSettings } from '../../../src/plugins/operator/settings.ts';
import { withCommonSettings } from '../../../src/runtime/component/settings.ts';
import type { Settings } from '../../../src/runtime/settings/setting.ts';
import { type Helm, helm, type Manifest, manifest } from '../../support/helm.ts';
import { INSTALLATIONS } from './values.ts';

/** A helm for each of many installations. */
export const timeout = 300_000;

const test = suite<{ helm: Helm }>('variables of the chart');

test.before(async (context) => {
  context.helm = await helm();
});
test.after(({ helm }) => helm?.remove());

/** Every variable is a setting's, comes once, and has a value that the setting takes. */
function check(container: Manifest, settings: Settings, where: string): string[] {
  const known = new Map(Object.values(settings).map((setting) => [setting.variable as string, setting]));
  const names = container.env.map(({ name }: Manifest) => name);
  assert.equal(names, [...new Set(names)], where);
  for (const { name, value } of container.env) {
    const setting = known.get(name);
    assert.ok(setting, `${where}: ${name}`);
    if (value !== undefined) assert.not.throws(() => setting.parse(value), `${where}: ${name}=${value}`);
  }
  return names;
}

test('are settings of the operator, with values that it takes', async ({ helm }) => {
  const used = new Set<string>();
  for (const [where, { values, options }] of Object.entries(INSTALLATIONS)) {
    const { spec } = manifest(await helm.render(values, options), 'Deployment', 'svc-operator').spec.template;
    for (const name of check(spec.containers[0], withCommonSettings(operatorSettings), where)) used.add(name);
  }
  const unused = Object.values(operatorSettings).map(({ variable }) => variable as string);
  assert.equal(
    unused.filter((name) => !used.has(name)),
    ['SVC_OPERATOR_VAULT_ADDR'],
    'the chart leaves a setting out',
  );
});

test('are settings of the agent, with values that it takes', async ({ helm }) => {
  for (const [where, { values, options }] of Object.entries(INSTALLATIONS)) {
    const agent = (await helm.render(values, options)).find(({ kind }: Manifest) => kind === 'DaemonSet');
    if (agent !== undefined)
      check(agent.spec.template.spec.containers[0], withCommonSettings(agentSettings), where);
  }
});

test('are settings of gc, with values that it takes, beside the credentials of the store', async ({
  helm,
}) => {
  const used = new Set<string>();
  for (const [where, { values, options }] of Object.entries(INSTALLATIONS)) {
    const job = (await helm.render(values, options)).find(({ kind }: Manifest) => kind === 'CronJob');
    if (job === undefined) continue;
    const [container] = job.spec.jobTemplate.spec.template.spec.containers;
    const ofAws = ({ name }: Manifest) => /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|CA_BUNDLE)$/.test(name);
    const env = container.env.filter((variable: Manifest) => !ofAws(variable));
    for (const name of check({ ...container, env }, gcSettings, where)) used.add(name);
  }
  const unused = Object.values(gcSettings).map(({ variable }) => variable as string);
  assert.equal(
    unused.filter((name) => !used.has(name)),
    ['AWS_DEFAULT_REGION'],
    'the chart leaves a setting out',
  );
});

test('required ones are always there', async ({ helm }) => {
  const required = Object.values(operatorSettings).filter((setting) => 'required' in setting);
  for (const { values, options } of Object.values(INSTALLATIONS)) {
    const { spec } = manifest(await helm.render(values, options), 'Deployment', 'svc-operator').spec.template;
    const set = spec.containers[0].env.map(({ name }: Manifest) => name);
    for (const { variable } of required) assert.ok(set.includes(variable), variable as string);
  }
});

test('the address of the secrets server arrives', async ({ helm }) => {
  const vaultAddress = 'https://vault.example:8200';
  const { spec } = manifest(await helm.render({ operator: { vaultAddress } }), 'Deployment', 'svc-operator')
    .spec.template;
  const set = spec.containers[0].env.find(({ name }: Manifest) => name === 'SVC_OPERATOR_VAULT_ADDR');
  assert.is(set?.value, vaultAddress);
});

test.run();
