import { entryNames } from '../../cluster/webhooks.ts';

const annotated =
  "has(object.metadata.annotations) && object.metadata.annotations.exists(key, key.matches('(?i)^svc/'))";

/** The conditions under which the API server asks, as the chart writes them. */
export const expectedConditions: Readonly<Record<string, string>> = {
  [entryNames.annotated]: annotated,
  [entryNames.namespace]:
    "!has(object.metadata.annotations) || !object.metadata.annotations.exists(key, key.matches('(?i)^svc/'))",
};
