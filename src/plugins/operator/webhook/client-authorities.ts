import { exitStatus, SvcError } from '../../../core/errors.ts';
import { readAuthorities } from '../../../runtime/tls/read-authorities.ts';

/**
 * Authorities that have issued for the API servers, as PEM; undefined without a file.
 * @throws SvcError (exit 78) when the file cannot be used
 */
export async function clientAuthorities(path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  try {
    return await readAuthorities(path);
  } catch (cause) {
    throw new SvcError(
      'WEBHOOK_CLIENT_CA_UNUSABLE',
      `SVC_OPERATOR_WEBHOOK_CLIENT_CA_FILE: ${path} cannot be used`,
      {
        ...{ cause, exitStatus: exitStatus.config },
        nextStep: 'Give it the PEM certificates of the authorities that have issued for the API servers.',
      },
    );
  }
}
