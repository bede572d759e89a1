import { descriptorSink, type Sink } from '../../runtime/logging/stderr-sink.ts';
import { canWrite } from '../../runtime/native/poll.ts';

const standardError = 2;

/**
 * The log. The application shares its descriptor, which is therefore a blocking one: unasked, a write to a pipe that
 * nobody reads would never come back, and no signal would reach the application any more.
 */
export function standardErrorSink(): Sink {
  return descriptorSink(standardError, { ready: canWrite });
}
