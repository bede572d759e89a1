import { type VaultAuth, vaultAuth, vaultPlace } from '../../../runtime/vault/config.ts';
import { vaultConnection } from '../../../runtime/vault/connection.ts';
import type { VaultTransport } from '../../../runtime/vault/contract.ts';
import { createLeanTransport } from '../../../runtime/vault/lean-transport.ts';
import type { ResolvedVaultSettings } from '../../../runtime/vault/settings.ts';
import type { ValidateConfig } from '../settings.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { VaultAccess } from './contract.ts';
import { logIn, type OpenSession } from './log-in.ts';
import { peerCertificate } from './peer-certificate.ts';

export interface OpenVault extends VaultAccess {
  /** Gives back the tokens that logins obtained. */
  close(): Promise<void>;
}

/**
 * The secrets server as settings name it.
 * @param signal ends logins
 * @throws SvcError where TLS files cannot be used
 */
export function openVault(config: ValidateConfig & ResolvedVaultSettings, signal: AbortSignal): OpenVault {
  const place = vaultPlace(config);
  const { endpoint } = place;
  const transport = createLeanTransport(vaultConnection(place));
  const workload = login(() => vaultAuth(config), transport, signal);
  const { auditorTokenFile: path } = config;
  const auditor =
    path === undefined ? workload : login(() => ({ method: 'token-file', path }), transport, signal);
  return {
    address: endpoint.url,
    skipVerify: endpoint.skipVerify,
    anonymous: { ask: (query, asking) => transport.send({ ...query, signal: asking }) },
    workload: workload.session,
    auditor: auditor.session,
    async capabilities(paths, asking) {
      return capabilitiesOf(await workload.session(), await auditor.session(), paths, asking);
    },
    certificate: (asking) => peerCertificate(endpoint, asking),
    async close() {
      await workload.end();
      await auditor.end();
      transport.close();
    },
  };
}

interface Login {
  readonly session: () => Promise<OpenSession>;
  readonly end: () => Promise<void>;
}

/** Made when it is first asked for, once. */
function login(auth: () => VaultAuth, transport: VaultTransport, signal: AbortSignal): Login {
  let opening: Promise<OpenSession> | undefined;
  const open = async () => logIn(auth(), transport, signal);
  return {
    session() {
      opening ??= open();
      return opening;
    },
    async end() {
      const opened = await opening?.catch(() => undefined);
      opening = undefined;
      await opened?.end();
    },
  };
}
