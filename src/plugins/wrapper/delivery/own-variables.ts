/** Tells the SDK which inherited descriptor holds the secrets. */
export const descriptorVariable = 'SVC_SECRET_FD';

/** Names the harmless first string of the environment. */
export const dummyVariable = 'SVC_WRAPPED';

/** What the wrapper sets for the application; it inherits none of them. */
export const ownVariables: readonly string[] = [descriptorVariable, dummyVariable];
