import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { carriesWrapper } from '../../../cluster/injection/protected-pods.ts';
import type { Pod } from '../../../cluster/kube/pod.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Metrics } from '../../../runtime/health/health.ts';
import { describeError, type Logger } from '../../../runtime/logging/logger.ts';
import { lastUse } from '../../../runtime/memory.ts';
import { CallerMemory } from '../caller-memory.ts';
import type { Decision, ReviewLimits } from './decide.ts';
import { answerBytes, sendAnswer } from './respond.ts';
import { type AdmissionRequest, readReview } from './review.ts';
import {
  type Body,
  createReviewMemoryLimit,
  largestReview,
  type ReviewMemoryLimit,
  readBody,
} from './review-body.ts';

export interface HandlerOptions {
  readonly decide: (request: AdmissionRequest, limits: ReviewLimits) => Promise<Decision>;
  readonly metrics: WebhookMetrics;
  readonly log: Logger;
  /** Maximum time of a review, in ms, whatever its caller says; default: 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Default: all of the container. */
  readonly memory?: CallerMemory;
}

/** Where the API server posts its reviews. */
export const webhookPath = '/mutate';

/** Answers one request; never rejects, whatever a caller sends. */
export function createHandler(options: HandlerOptions) {
  const { memory = new CallerMemory() } = options;
  const takeFromAgents = () => memory.takeFromAgents();
  const rooms = {
    reviews: createReviewMemoryLimit(memory.reviews, takeFromAgents),
    answers: createReviewMemoryLimit(memory.answers, takeFromAgents),
  };
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      await answer(request, response, options, rooms);
    } catch (error) {
      options.log.error('webhook.failed', describeError(error));
      if (response.headersSent) response.destroy();
      else respondText(response, 500, 'The AdmissionReview could not be answered.');
    }
  };
}

/** Memory for an answer is asked for only while that for its review is held, so that the two never wait for each other. */
interface Rooms {
  readonly reviews: ReviewMemoryLimit;
  readonly answers: ReviewMemoryLimit;
}

async function heldUntilClosed(
  response: ServerResponse,
  entered: ReturnType<ReviewMemoryLimit['enter']>,
): Promise<boolean> {
  const leave = await entered;
  if (leave === undefined) return false;
  if (response.closed) leave();
  else response.once('close', () => leave());
  return true;
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: HandlerOptions,
  rooms: Rooms,
): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'https://webhook');
  if (url?.pathname !== webhookPath) return hangUp(response, 404, `Only ${webhookPath} is served here.`);
  if (request.method !== 'POST') return hangUp(response, 405, 'Send the AdmissionReview by POST.');
  const time = startReviewTime(url, request.socket, options.timeoutMs);
  try {
    await answerReview(request, response, options, rooms, time);
  } finally {
    time.end();
  }
}

async function answerReview(
  request: IncomingMessage,
  response: ServerResponse,
  options: HandlerOptions,
  rooms: Rooms,
  time: ReviewTime,
): Promise<void> {
  const began = performance.now();
  const review = await readBody(request, response, rooms.reviews, time.signal).then((body) =>
    reviewIn(body, response, options),
  );
  if (review === undefined) return;
  const reserve = (bytes: number) => heldUntilClosed(response, rooms.answers.enter(bytes, time.signal));
  const decision = await options.decide(review, { ...time.left(), reserve });
  const answer = answerBytes(review.uid, decision);
  // the caller has disconnected, and thus refused the pod
  if (request.socket.destroyed) return;
  options.metrics.answered(decision, performance.now() - began, counts(review, decision));
  tell(options.log, review, decision);
  await sendAnswer(response, answer, time.signal);
}

/** Dry runs create no pod; a pod that already has the wrapper was counted in an earlier review of it. */
function counts({ dryRun, pod }: AdmissionRequest, { kind }: Decision): boolean {
  return !dryRun && (kind === 'deny' || !carriesWrapper(pod));
}

/** The API server then refuses the pod and reports why. */
function turnAway(response: ServerResponse, { log, metrics }: HandlerOptions): void {
  if (response.destroyed) return;
  metrics.turnedAway();
  log.warn('webhook.busy');
  hangUp(response, 503, 'svc has too many reviews to decide at the same time. Create the pod again.');
}

const tooLong = `svc reads AdmissionReviews of at most ${largestReview} bytes, and this one is longer. Make the pod smaller, or create it in a namespace without ServiceConfigs and without svc/ annotations.`;

/** Answers a body without a review. The bytes are no longer needed when this returns. */
function reviewIn(
  body: Body,
  response: ServerResponse,
  options: HandlerOptions,
): AdmissionRequest | undefined {
  if (body.kind === 'too long') hangUp(response, 413, tooLong);
  if (body.kind === 'no room') turnAway(response, options);
  if (body.kind !== 'whole') return undefined;
  try {
    return lastUse(body.bytes, (bytes) => readReview(bytes, body.size));
  } catch (error) {
    options.log.warn('webhook.request.invalid', describeError(error));
    respondText(response, 400, messageOf(error));
    return undefined;
  }
}

function tell(log: Logger, review: AdmissionRequest, decision: Decision): void {
  const { namespace, name, pod, dryRun, user } = review;
  const facts = { namespace, pod: name || podPrefix(pod), user, ...(dryRun && { dryRun }) };
  if (decision.kind === 'skip') return log.debug('webhook.skipped', { ...facts, reason: decision.reason });
  if (decision.kind === 'deny') return log.warn('webhook.denied', { ...facts, mistakes: decision.errors });
  const { serviceConfig, warnings } = decision;
  log.info('webhook.injected', { ...facts, serviceConfig, ...(warnings.length > 0 && { warnings }) });
}

/** The API server has not looked at it yet. */
const podPrefix = ({ metadata }: Pod): string | undefined => metadata.generateName?.slice(0, 253);

function respondText(response: ServerResponse, status: number, text: string): void {
  if (response.destroyed) return;
  const type = 'text/plain; charset=utf-8';
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** The rest of the request is not read: Node would parse a body of any length to reach the next request. */
function hangUp(response: ServerResponse, status: number, text: string): void {
  if (!response.req.complete) response.setHeader('connection', 'close');
  respondText(response, status, text);
}

const defaultTimeoutMs = 10_000;
/** Reserved for the steps after the lookup of images. */
const reservedMs = 1_000;
/** Leaves a failed lookup time to report its own reason, which says more than that the review was cut off. */
const forReasonMs = 500;

/** How long the caller waits for the response to a review. */
interface ReviewTime {
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal;
  /** The remaining time for slow steps. */
  left(): Omit<ReviewLimits, 'reserve'>;
  /** To be called when the review has been answered. */
  end(): void;
}

/**
 * Ends a little before the API server's timeout, to answer with a reason.
 * @param mostMs the webhook's configured limit, which a longer timeout of the caller does not extend
 */
function startReviewTime(url: URL, socket: Socket, mostMs = defaultTimeoutMs): ReviewTime {
  const timeoutMs = Math.max(reservedMs, Math.min(timeoutOf(url), mostMs) - reservedMs);
  const deadline = performance.now() + timeoutMs;
  const ending = new AbortController();
  const { signal } = ending;
  const hungUp = () => ending.abort(new Error('The API server has hung up.'));
  socket.once('close', hungUp);
  const mostOfAll = timeoutMs + forReasonMs;
  const timer = setTimeout(
    () => ending.abort(new Error(`The review was not decided within ${mostOfAll} ms.`)),
    mostOfAll,
  );
  return {
    signal,
    left: () => ({ timeoutMs: Math.max(0, deadline - performance.now()), signal }),
    end() {
      clearTimeout(timer);
      socket.off('close', hungUp);
    },
  };
}

/** The API server appends `?timeout=10s`, in whole seconds. */
function timeoutOf(url: URL): number {
  const seconds = Number(/^(\d{1,2})s$/.exec(url.searchParams.get('timeout') ?? '')?.[1]);
  return seconds > 0 ? seconds * 1_000 : defaultTimeoutMs;
}

interface WebhookMetrics {
  /** @param counts whether to count the pod */
  answered(decision: Decision, milliseconds: number, counts: boolean): void;
  /** Counts a review that was refused unread. */
  turnedAway(): void;
}

const statuses = { inject: 'success', deny: 'error', skip: 'skipped' } as const;
const seconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5, 10];

export function createWebhookMetrics(metrics: Metrics): WebhookMetrics {
  const injections = metrics.counter(
    'svc_webhook_injection_total',
    'Pods by webhook decision: success (injected), error (refused) or skipped (not asked for)',
    ['status'],
  );
  const duration = metrics.histogram('svc_webhook_duration_seconds', 'Time to answer a review', seconds);
  // an alert on the rate of a counter needs the counter to exist
  for (const status of Object.values(statuses)) injections.inc({ status }, 0);
  return {
    answered(decision, milliseconds, counts) {
      if (counts) injections.inc({ status: statuses[decision.kind] });
      duration.observe(milliseconds / 1_000);
    },
    turnedAway: () => injections.inc({ status: statuses.deny }),
  };
}
