import type { IncomingMessage, ServerResponse } from 'node:http';
import { carriesWrapper } from '../../../core/cluster/protected.ts';
import { messageOf } from '../../../core/errors.ts';
import { describeError } from '../../../runtime/logging/describe-error.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Limits } from './decide.ts';
import type { Decision } from './decision.ts';
import { readBody } from './read-body.ts';
import { responseFor } from './respond.ts';
import { hangUp, respondText } from './respond-text.ts';
import { type AdmissionRequest, readReview, writeReview } from './review.ts';
import { createReviewRoom, type ReviewRoom } from './review-room.ts';
import { type ReviewTime, startReviewTime } from './review-time.ts';
import type { WebhookMetrics } from './webhook-metrics.ts';

export interface HandlerOptions {
  readonly decide: (request: AdmissionRequest, limits: Limits) => Promise<Decision>;
  readonly metrics: WebhookMetrics;
  readonly log: Logger;
  /** How long a review may take, in ms, whatever its caller says; default: 10 s. */
  readonly timeoutMs?: number | undefined;
}

/** Where the API server posts its reviews. */
export const webhookPath = '/mutate';

/** Of all that are read or decided upon at the same time. Most have some 10 KiB, and take several times that. */
const mostHeld = 4 * 1024 * 1024;

/** Answers one request; never rejects, whatever a caller sends. */
export function createHandler(options: HandlerOptions) {
  const room = createReviewRoom(mostHeld);
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      await answer(request, response, options, room);
    } catch (error) {
      options.log.error('webhook.failed', describeError(error));
      if (response.headersSent) response.destroy();
      else respondText(response, 500, 'The AdmissionReview could not be answered.');
    }
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: HandlerOptions,
  room: ReviewRoom,
): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'https://webhook');
  if (url?.pathname !== webhookPath) return respondText(response, 404, `Only ${webhookPath} is served here.`);
  if (request.method !== 'POST') return respondText(response, 405, 'An AdmissionReview is posted.');
  const time = startReviewTime(url, request.socket, options.timeoutMs);
  try {
    await answerReview(request, response, options, room, time);
  } finally {
    time.end();
  }
}

async function answerReview(
  request: IncomingMessage,
  response: ServerResponse,
  options: HandlerOptions,
  room: ReviewRoom,
  time: ReviewTime,
): Promise<void> {
  const began = performance.now();
  const body = await readBody(request, response, room, time.signal);
  if (body.kind === 'too long') return hangUp(response, 413, 'The AdmissionReview is too long.');
  if (body.kind === 'no room') return turnAway(response, options);
  if (body.kind === 'broken off') return;
  const review = reviewIn(body.text, options.log);
  if (typeof review === 'string') return respondText(response, 400, review);
  const decision = await options.decide(review, time.left());
  const answered = writeReview(responseFor(review.uid, decision));
  // nobody is there to be answered, and the pod was refused without us
  if (request.socket.destroyed) return;
  options.metrics.answered(decision, performance.now() - began, counts(review, decision));
  tell(options.log, review, decision);
  respondText(response, 200, answered, 'application/json');
}

/** Dry runs make no pod; one that carries the wrapper was counted when it was given it, before other webhooks changed it. */
function counts({ dryRun, pod }: AdmissionRequest, { kind }: Decision): boolean {
  return !dryRun && (kind === 'deny' || !carriesWrapper(pod));
}

/** The API server refuses the pod then, and says why. */
function turnAway(response: ServerResponse, { log, metrics }: HandlerOptions): void {
  if (response.destroyed) return;
  metrics.turnedAway();
  log.warn('webhook.busy');
  respondText(response, 503, 'svc has too many reviews to decide at the same time. Create the pod again.');
}

function reviewIn(text: string, log: Logger): AdmissionRequest | string {
  try {
    return readReview(text);
  } catch (error) {
    log.warn('webhook.request.invalid', describeError(error));
    return messageOf(error);
  }
}

function tell(log: Logger, review: AdmissionRequest, decision: Decision): void {
  const { namespace, name, pod, dryRun, user } = review;
  const facts = { namespace, pod: name || pod.metadata.generateName, user, ...(dryRun && { dryRun }) };
  if (decision.kind === 'skip') return log.debug('webhook.skipped', { ...facts, reason: decision.reason });
  if (decision.kind === 'deny') return log.warn('webhook.denied', { ...facts, mistakes: decision.mistakes });
  const { serviceConfig, warnings } = decision;
  log.info('webhook.injected', { ...facts, serviceConfig, ...(warnings.length > 0 && { warnings }) });
}
