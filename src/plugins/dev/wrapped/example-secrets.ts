import { randomBytes } from 'node:crypto';
import type { Secrets } from '../keys/set-up-secrets.ts';

/** The secret that is changed to show rotation; it has one field, so that a new version loses nothing. */
export const changing = { name: 'demo/api', field: 'API_KEY' } as const;

const text = (bytes: number): string => randomBytes(bytes).toString('base64url');

/** Two secrets, other ones at each call. */
export const exampleSecrets = (): Secrets => ({
  'demo/db': { DB_USER: `app-${randomBytes(4).toString('hex')}`, DB_PASSWORD: text(18) },
  [changing.name]: { [changing.field]: `v1-${text(18)}` },
});

/** For the second version; its first characters, which the demo shows, are others. */
export const changedValue = (): string => `v2-${text(18)}`;
