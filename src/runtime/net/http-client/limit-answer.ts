import type { ClientRequest } from 'node:http';
import { stopParsing } from '../http-parser.ts';
import { limitPieces } from '../limit-pieces.ts';

/** Servers send one or two: `100 Continue`, `103 Early Hints`. */
const maxInterimAnswers = 16;

/**
 * Bounds what the answer costs the parser, however few bytes it takes: the body's pieces and the interim answers before
 * it, of which `node:http` takes any number. The request or its answer fails with an Error.
 * @param outgoing whose response nobody listens for yet
 */
export function limitAnswer(outgoing: ClientRequest): ClientRequest {
  let interim = 0;
  const count = () => {
    interim += 1;
    if (interim <= maxInterimAnswers) return;
    if (outgoing.socket) stopParsing(outgoing.socket);
    outgoing.destroy(new Error(`more than ${maxInterimAnswers} interim answers came before the answer`));
  };
  return outgoing.on('information', count).once('response', limitPieces);
}
