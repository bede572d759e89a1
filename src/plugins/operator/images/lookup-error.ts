import { exitStatus, SvcError } from '../../../core/errors.ts';

/** Why one image could not be looked up. */
export interface LookupFailure {
  /** As the pod writes it. */
  readonly image: string;
  readonly error: unknown;
  /** Of the pull secrets, each as a clause. */
  readonly problems: readonly string[];
}

/** Names every image that could not be looked up, with its reason and what to do, one a line. */
export class ImageLookupError extends SvcError {
  constructor(failures: readonly LookupFailure[]) {
    super('IMAGE_LOOKUP', 'What these images run could not be looked up:', {
      details: failures.map(detail),
      nextStep:
        'Or say in the pod what runs, by command or the annotation svc/command: then nothing is looked up.',
      exitStatus: exitStatus.unavailable,
      cause: failures[0]?.error,
    });
  }
}

function detail({ image, error, problems }: LookupFailure): string {
  const also = problems.map((problem) => `; ${problem}`).join('');
  const { message, nextStep } = error instanceof SvcError ? error : unexpected;
  return `${shown(image)}: ${message}${also}. ${nextStep}`;
}

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
