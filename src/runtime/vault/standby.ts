import { isLoopback } from '../../core/settings/listen-address.ts';
import type { VaultConnection } from './connection.ts';
import { VaultError } from './errors.ts';
import type { Wire, WireRequest, WireResponse } from './wire.ts';

/** Sends the request once more, to the server that `activeServer` finds in the answer. */
export async function followStandby(
  wire: Pick<Wire, 'exchange'>,
  connection: VaultConnection,
  request: WireRequest,
  answer: WireResponse,
): Promise<WireResponse> {
  return wire.exchange({ ...request, origin: activeServer(connection, request, answer) });
}

/**
 * A standby that does not forward names the active server by a 307. It is followed once,
 * and only to the same path by the same scheme: the token goes along, and with TLS the
 * other server must show a certificate of the same CA; without TLS it must be on this machine,
 * as VAULT_ADDR must. No other redirect is followed.
 *
 * @returns where to send the request again
 * @throws VaultError of kind `unavailable`
 */
export function activeServer(
  connection: VaultConnection,
  request: Pick<WireRequest, 'origin' | 'path'>,
  answer: Pick<WireResponse, 'status' | 'location'>,
): URL {
  const target = URL.parse(answer.location ?? '', request.origin.href);
  const usable =
    connection.followStandby &&
    target !== null &&
    target.protocol === request.origin.protocol &&
    (target.protocol === 'https:' || isLoopback(target.hostname)) &&
    target.username === '' &&
    target.pathname + target.search === request.path;
  if (usable) return target;
  throw new VaultError('unavailable', `${request.origin.host} redirects elsewhere, which is not followed`, {
    status: answer.status,
    nextStep: 'Let VAULT_ADDR name the active key server, or a load balancer that finds it.',
  });
}
