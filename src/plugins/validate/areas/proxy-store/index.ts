import type { Check } from '../../contract.ts';
import { bucketThere } from './bucket.ts';
import { ciphertext } from './ciphertext.ts';
import { notPublic } from './public.ts';
import { readBack } from './round-trip.ts';
import { versioning } from './versioning.ts';

export const proxyStoreChecks: readonly Check[] = [bucketThere, ciphertext, readBack, versioning, notPublic];
