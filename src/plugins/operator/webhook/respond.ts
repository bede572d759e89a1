import type { Decision } from './decision.ts';
import type { AdmissionResponse } from './review.ts';

const reasons = {
  400: 'BadRequest',
  403: 'Forbidden',
  500: 'InternalError',
  503: 'ServiceUnavailable',
} as const;

/** Beyond that the API server cuts warnings off. */
const longestWarning = 250;

/** The answer to the API server that a decision amounts to. */
export function responseFor(uid: string, decision: Decision): AdmissionResponse {
  if (decision.kind === 'skip') return { uid, allowed: true };
  if (decision.kind === 'deny') return { uid, allowed: false, status: refusal(decision) };
  return {
    ...{ uid, allowed: true, patchType: 'JSONPatch', patch: base64(JSON.stringify(decision.patch)) },
    ...(decision.warnings.length > 0 && {
      warnings: decision.warnings.map((text) => `svc: ${text}`.slice(0, longestWarning)),
    }),
  };
}

function refusal({
  code,
  mistakes,
}: Extract<Decision, { kind: 'deny' }>): NonNullable<AdmissionResponse['status']> {
  const what = mistakes.length === 1 ? '' : `${mistakes.length} mistakes: `;
  const message = `svc refuses this pod, because it would start unprotected. ${what}${mistakes.join('; ')}`;
  return { code, reason: reasons[code], message };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
