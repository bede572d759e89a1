import { exitStatus, SvcError } from '../../../core/errors.ts';
import { RegistryError } from '../../../runtime/registry/errors.ts';

/** Why one image could not be looked up. */
export interface LookupFailure {
  /** As the pod writes it. */
  readonly image: string;
  readonly error: unknown;
  /** Of the pull secrets, each as a clause. */
  readonly problems: readonly string[];
  /** What it was looked up for. */
  readonly wanted: 'command' | 'user';
}

/** Names every image that could not be looked up, with its reason and what to do, one a line. */
export class ImageLookupError extends SvcError {
  constructor(failures: readonly LookupFailure[]) {
    const wanted = new Set(failures.map((failure) => failure.wanted));
    super('IMAGE_LOOKUP', 'What these images run could not be looked up:', {
      details: failures.map(detail),
      nextStep: [
        ...(wanted.has('command') ? [sayCommand] : []),
        ...(wanted.has('user') ? [sayUser] : []),
      ].join(' '),
      exitStatus: exitStatus.unavailable,
      cause: failures[0]?.error,
    });
  }
}

const sayCommand =
  'Or say in the pod what runs, by command or the annotation svc/command: then its command is not looked up.';
const sayUser =
  'Or say in the pod which user it runs as (runAsUser), on which it depends whether its memory is locked: then its user is not looked up.';

function detail({ image, error, problems }: LookupFailure): string {
  const also = problems.map((problem) => `; ${problem}`).join('');
  const { message, nextStep } = told(error);
  return `${shown(image)}: ${message}${also}. ${nextStep}`;
}

/**
 * Whoever may make pods may name any host and port as a registry. What a connection there comes to is not told: it would
 * show which ports of the network are open to the operator.
 */
function told(error: unknown): Pick<SvcError, 'message' | 'nextStep'> {
  if (error instanceof RegistryError) return error.told ? error : unreachable;
  return error instanceof SvcError ? error : unexpected;
}

const unreachable = {
  message: 'its registry did not say',
  nextStep:
    "Check its name and its credentials, and that the operator reaches it over HTTPS with a certificate of an authority that it knows (operator.registryCA); the operator's log has the reason (image.lookup_failed).",
};

/** Our own mistakes show nothing of themselves here; the cause is in the log. */
const unexpected = {
  message: 'the look-up broke down',
  nextStep: 'Read the log of the operator.',
};

/** A reference may be anything that somebody wrote. */
function shown(image: string): string {
  const plain = image.replace(/[^\x21-\x7e]/g, '?');
  return plain.length > 300 ? `${plain.slice(0, 300)}…` : plain === '' ? '""' : plain;
}
