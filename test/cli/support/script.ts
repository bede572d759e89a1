/**
 * CLI tests as text. `$ line` is run by bash with `svc` as a command; what follows is the expected output:
 * plain lines of standard output, `! ` before lines of standard error, `? N` for a status other than 0.
 * `[..]` matches any text within a line, `...` any lines. `#` begins a comment.
 */
export interface Step {
  readonly command: string;
  readonly line: number;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  readonly status: number;
}

export interface LineOutcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
}

interface OpenStep extends Step {
  readonly stdout: string[];
  readonly stderr: string[];
  status: number;
}

export function parseScript(text: string): Step[] {
  const steps: OpenStep[] = [];
  text.split('\n').forEach((line, index) => {
    if (line.startsWith('#')) return;
    if (line.startsWith('$ ')) {
      steps.push({ command: line.slice(2), line: index + 1, stdout: [], stderr: [], status: 0 });
      return;
    }
    const step = steps.at(-1);
    if (step) expectLine(step, line);
    else if (line.trim()) throw new Error(`line ${index + 1}: output expected before the first command`);
  });
  return steps.map((step) => ({ ...step, stdout: trimEnd(step.stdout), stderr: trimEnd(step.stderr) }));
}

function expectLine(step: OpenStep, line: string): void {
  if (line.startsWith('? ')) step.status = Number(line.slice(2));
  else if (line === '!' || line.startsWith('! ')) step.stderr.push(line.slice(2));
  else step.stdout.push(line);
}

function trimEnd(lines: string[]): string[] {
  const last = lines.findLastIndex((line) => line.trim() !== '');
  return lines.slice(0, last + 1);
}

/** True when the text has the expected lines. */
export function matches(expected: readonly string[], text: string): boolean {
  const pattern = expected
    .map((line) => (line === '...' ? '(?:.*\n)*?' : `${linePattern(line)}[ \t]*\n`))
    .join('');
  return new RegExp(`^${pattern}$`).test(text.trim() === '' ? '' : `${text.trimEnd()}\n`);
}

function linePattern(line: string): string {
  const literal = (part: string) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return line.split('[..]').map(literal).join('.*');
}

/** What a step's outcome has that was not expected; empty when all is as expected. */
export function disagreement(step: Step, outcome: LineOutcome): string {
  const wrong = [
    matches(step.stdout, outcome.stdout) ? '' : `standard output:\n${outcome.stdout}`,
    matches(step.stderr, outcome.stderr) ? '' : `standard error:\n${outcome.stderr}`,
    step.status === outcome.status ? '' : `status ${outcome.status} instead of ${step.status}`,
  ].filter(Boolean);
  return wrong.join('\n');
}
