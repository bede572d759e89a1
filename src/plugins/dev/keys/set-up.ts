import { isRecord } from '../../../core/vault/answer.ts';
import { vaultPath } from '../../../core/vault/path.ts';
import { type Administered, type Administrator, asAdministrator } from './administrator.ts';

export interface SetUp extends Administered {
  readonly mount: string;
  readonly keyName: string;
}

/**
 * What an administrator does once: mounts transit, creates the key, and hands out a token that may
 * update the two transit paths and nothing else. Repeating it changes nothing.
 * @returns that token
 * @throws VaultError
 */
export function setUpTransit({ mount, keyName, ...server }: SetUp): Promise<string> {
  return asAdministrator(server, async ({ ask, issueToken }) => {
    if (!(await isMounted(ask, mount)))
      await ask({ method: 'POST', path: `sys/mounts/${vaultPath(mount)}`, body: { type: 'transit' } });
    await ask({ method: 'POST', path: vaultPath(mount, 'keys', keyName), body: {} });
    const paths = ['encrypt', 'decrypt'].map((operation) => vaultPath(mount, operation, keyName));
    const policy = Object.fromEntries(paths.map((path) => [path, ['update']]));
    return issueToken({ name: `svc-proxy-${keyName}`, policy });
  });
}

async function isMounted(ask: Administrator['ask'], mount: string): Promise<boolean> {
  const body = await ask({ method: 'GET', path: 'sys/mounts' });
  const data = isRecord(body) ? body['data'] : undefined;
  return isRecord(data) && `${mount}/` in data;
}
