/**
 * Variables of a container whose values a score depends on. None of them is ever a secret; whoever keeps pods for their
 * scores keeps these values, the name of every other variable and where its value comes from.
 */
export const scoredVariables = [
  'SVC_CORE_LIMIT',
  'SVC_DELIVERY',
  'SVC_REQUIRE_MEMFD_SECRET',
  'SVC_REQUIRE_MLOCK',
  'VAULT_SKIP_VERIFY',
] as const;

export type ScoredVariable = (typeof scoredVariables)[number];
