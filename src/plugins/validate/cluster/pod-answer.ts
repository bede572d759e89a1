/** `silent`: the API server reaches nothing there. */
export type PodAnswer =
  | { readonly kind: 'ok'; readonly text: string }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'silent'; readonly because: string };

/** Why a pod did not give what it was asked for, as the end of a sentence; undefined: it did. */
export function problemOf(answer: PodAnswer): string | undefined {
  if (answer.kind === 'silent') return answer.because;
  return answer.kind === 'refused' ? `it answers with ${answer.status}` : undefined;
}
