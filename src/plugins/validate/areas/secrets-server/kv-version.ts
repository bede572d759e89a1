import { skipped, verdict } from '../../results.ts';
import { forWrapper } from './identity.ts';
import { kvPlaces } from './kv-places.ts';
import { vaultCheck } from './vault-check.ts';

export const kvVersion = vaultCheck(
  {
    id: 'SVC-VAULT-012',
    title: 'KV stores keep versions',
    level: 'info',
    cause: 'The store is of KV version 1: what is overwritten or deleted by mistake is gone.',
    fix: 'Upgrade it with bao kv enable-versioning <mount>; policies then need <mount>/data/<name>.',
  },
  async (_vault, context) => {
    if (context.config.secretPaths === undefined || !forWrapper(context.config))
      return skipped('No KV paths are named: give --secrets or SVC_SECRET_PATHS.');
    const { places } = await kvPlaces(context);
    if (places.length === 0) return skipped('None of the KV paths is found: SVC-VAULT-011 tells of them.');
    const old = new Set(places.filter(({ version }) => version === 1).map(({ mount }) => mount));
    return verdict([...old].map((subject) => ({ subject, message: 'It is of KV version 1.' })));
  },
);
