import { http } from '../../support/http.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import { startWrapper } from '../../support/svc-wrapper.ts';
import type { SvcVault } from '../../support/types.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A component, as it is shipped, that stays and waits for the key server when it starts. */
export interface Staying {
  readonly name: string;
  /** Resolves when it has what it needs of the key server; `meanwhile` is called once it waits. */
  run(
    vault: SvcVault,
    meanwhile?: (output: string) => unknown,
    env?: Readonly<Record<string, string>>,
  ): Promise<void>;
}

const nowhere = {
  endpoint: 'http://127.0.0.1:9',
  region: 'us-east-1',
  accessKeyId: 'access',
  secretAccessKey: 'secret-access-key',
};

const proxy: Staying = {
  name: 'proxy',
  async run(vault, meanwhile, env) {
    const running = await startSvcProxy({ upstream: nowhere, vault, waitReady: false, ...(env && { env }) });
    try {
      const { output } = running;
      const waits = () => output().includes('"vault.login.failed"');
      if (meanwhile) await meanwhile(await waitFor('a failed login', () => waits() && output()));
      const reasons = async () => (await http(`${running.health}/readyz`)).json.reasons;
      const has = async () => (await reasons()).vault === undefined;
      await waitFor('a token of the proxy', has, { details: output });
    } finally {
      await running.stop();
    }
  },
};

const wrapper: Staying = {
  name: 'wrapper',
  async run(vault, meanwhile, env) {
    const running = await startWrapper({
      ...{ vault, paths: ['kv/x'], command: ['/bin/true'] },
      env: { SVC_STARTUP_TIMEOUT: '60s', SVC_REQUIRE_MLOCK: 'false', ...env },
    });
    try {
      if (meanwhile) {
        await running.event('secrets.waiting');
        await meanwhile(running.output());
      }
      const { code } = await running.exited;
      if (code !== 0) throw new Error(`The wrapper ended with ${code}\n${running.output()}`);
    } finally {
      await running.stop();
    }
  },
};

export const staying: readonly Staying[] = [proxy, wrapper];
