import { hasCode, type KubeErrorCode } from './errors.ts';

/** For requests where such an error means that nothing is there: undefined then. @throws KubeError any other */
export async function unless<T>(
  request: Promise<T>,
  ...codes: readonly KubeErrorCode[]
): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (hasCode(error, ...codes)) return undefined;
    throw error;
  }
}
