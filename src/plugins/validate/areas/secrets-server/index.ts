import type { Check } from '../../contract.ts';
import { active } from './active.ts';
import { answers } from './answers.ts';
import { certificateLasts, certificateTrusted } from './certificate.ts';
import { kvReadable } from './kv-readable.ts';
import { kvVersion } from './kv-version.ts';
import { login } from './login.ts';
import { policyExact, policySuffices } from './policy.ts';
import { role } from './role.ts';
import { roundTrip } from './round-trip.ts';
import { unsealed } from './unsealed.ts';

export const secretsServerChecks: readonly Check[] = [
  ...[answers, unsealed, active, certificateTrusted, certificateLasts],
  ...[login, role, policySuffices, policyExact, roundTrip, kvReadable, kvVersion],
];
