import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mutatePod } from '../../../../src/cluster/injection/mutate/mutate-pod.ts';
import { proxySettings } from '../../../../src/plugins/proxy/settings.ts';
import { wrapperSettings } from '../../../../src/plugins/wrapper/settings.ts';
import { resolveSettings } from '../../../../src/runtime/settings/resolve.ts';
import type { Settings } from '../../../../src/runtime/settings/setting.ts';
import { environmentOf } from './kubelet.ts';
import { defaultsOf, planOf, surroundingsOf } from './pods/case.ts';
import { podCases } from './pods/index.ts';

const settings = suite('what wrapper and proxy read of their variables');

const strange = 'everything that a plan can say';
const mutated = podCases
  .filter(({ name }) => name !== strange)
  .map((one) => mutatePod(one.pod, planOf(one), defaultsOf(one), surroundingsOf(one)))
  .filter((mutation) => mutation.kind === 'pod')
  .map(({ pod }) => pod);
const containers = mutated.flatMap(({ spec }) => [...(spec.initContainers ?? []), ...spec.containers]);

function readBy(declared: Settings, env: ReadonlyMap<string, string>): void {
  const values = new Map(env);
  if (values.has('SVC_POD_UID')) values.set('SVC_POD_UID', '6f9c1c1e-5d1c-4f0e-9f8a-0d7b3a1f2c4d');
  resolveSettings(declared, { flags: {}, env: Object.fromEntries(values) });
  const known = Object.values(declared).map(({ variable }) => variable);
  const ours = [...values.keys()].filter((name) => /^(SVC|VAULT)_/.test(name));
  assert.equal(
    ours.filter((name) => !known.includes(name)),
    [],
  );
}

settings('every wrapped container is configured as the wrapper wants it', () => {
  const wrapped = containers.filter(
    ({ command, name }) => command?.[0] === '/svc/svc-wrapper' && name !== 'svc-wrapper',
  );
  assert.ok(wrapped.length > 90, `${wrapped.length}`);
  // what stands behind -- takes the place of the two variables
  for (const one of wrapped) readBy(wrapperSettings, environmentOf(one));
});

settings('and every proxy', () => {
  const proxies = containers.filter(({ name }) => name === 'svc-proxy');
  assert.ok(proxies.length > 10, `${proxies.length}`);
  for (const one of proxies) {
    const own = (one.env ?? []).filter(({ valueFrom }) => valueFrom === undefined);
    readBy(proxySettings, environmentOf({ ...one, env: own }));
  }
});

settings.run();
