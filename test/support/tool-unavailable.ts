/**
 * Thrown when a real server or client of the test bed cannot be had here.
 * The runner reports the suite as skipped with the reason; with CI=true that is a failure.
 */
export class ToolUnavailable extends Error {
  override readonly name = 'ToolUnavailable';
  readonly tool: string;
  readonly reason: string;

  constructor(tool: string, reason: string, options?: { cause?: unknown }) {
    super(`${tool} is not available: ${reason}`, options);
    this.tool = tool;
    this.reason = reason;
  }
}
