import { tmpdir } from 'node:os';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { storeOf } from '../../../runtime/object-store/settings.ts';
import { createVaultClient } from '../../../runtime/vault/client.ts';
import { HangGuard } from '../../../runtime/vault/hang-guard.ts';
import { vaultConfig } from '../../../runtime/vault/settings.ts';
import { createTransit } from '../../../runtime/vault/transit.ts';
import type { ProxyConfig } from '../config.ts';
import type { ProxyServices } from '../context.ts';
import { createContext } from '../start-process.ts';
import type { MigrateSettings } from './settings.ts';

export interface MigrateServices extends ProxyServices {
  end(): Promise<void>;
}

/** For an answer of the key server, in milliseconds: nobody waits for a single object. */
const keyServerMs = 60_000;

/**
 * What a proxy with these settings would have, without its server.
 * @throws SvcError where certificates or tokens cannot be had
 */
export function openServices(
  settings: MigrateSettings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): MigrateServices {
  const vault = createVaultClient({ config: vaultConfig(settings), log, onState: () => undefined });
  const hangGuard = new HangGuard({ timeoutMs: keyServerMs, log });
  const { transitMount: mount, transitKey: keyName } = settings;
  const transit = createTransit(vault, { mount, keyName, joinCalls: true });
  const metrics = { request() {}, refused() {}, bytes() {} };
  const config = configOf(settings);
  const context = createContext({ config, transit, hangGuard, metrics, log, env, keysAhead: true });
  void vault.start();
  return {
    ...context,
    async end() {
      context.close();
      await vault.close();
    },
  };
}

/** Nobody calls this proxy. */
const uncalled = {
  listen: { host: '127.0.0.1', port: 0 },
  tls: undefined,
  callerKeys: undefined,
  hosts: [],
  allowAnonymous: false,
  accessLog: undefined,
  envelopeHeaders: 'shown',
  listSizes: 'stored',
  workers: 1,
} as const;

/** Nothing is replaced before the plaintext has ended and was found right, so none of it has to be held until then. */
const reading = { strict: false, verifyBuffer: 0, verifyBudget: 0, spoolSize: 0 } as const;

function configOf(settings: MigrateSettings): ProxyConfig {
  const { upstreamSigning, upstreamChecksum, reservedPrefix, stateBucket, format, bind } = settings;
  return {
    ...storeOf(settings),
    ...{ ...uncalled, ...reading, spoolDir: tmpdir() },
    ...{ upstreamSigning, upstreamChecksum, reservedPrefix, stateBucket },
    format: format === '2' ? 2 : 1,
    ...{ binding: bind, requireBound: false, unencryptedReads: 'allow' },
    recoveryRecipients: settings.recoveryRecipients ?? [],
    // A part list gets into the object by a further copy, which stores hold to no condition
    inlineLimit: 0,
  };
}
