const names = /^x-amz-(acl|grant-.+|storage-class|server-side-encryption(?!-customer).*)$/;

/** The headers of a write that replacing the object's metadata by a self-copy would otherwise lose. */
export const repeatedHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)));
