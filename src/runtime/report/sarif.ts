import type { CheckFinding, Level } from './check-outcome.ts';

export interface SarifRule {
  readonly id: string;
  /** What the rule is about, as a sentence. */
  readonly summary: string;
  /** How to fix it, as a sentence. */
  readonly help: string;
  /** Absolute URL of further documentation. */
  readonly helpUri?: string;
}

export interface SarifFinding extends CheckFinding {
  /** Why the finding is suppressed, if it is. */
  readonly suppressed?: string;
}

/** Something that could not be evaluated. */
export interface SarifNotification {
  readonly id: string;
  readonly message: string;
}

export interface SarifTool {
  readonly name: string;
  readonly version: string;
  readonly rules: readonly SarifRule[];
}

const sarifLevels: Readonly<Record<Level, string>> = { error: 'error', warning: 'warning', info: 'note' };

/**
 * Converts findings to a SARIF log.
 * Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
 */
export function sarifLog(
  tool: SarifTool,
  findings: readonly SarifFinding[],
  notifications: readonly SarifNotification[] = [],
): object {
  const named = new Set([...findings, ...notifications].map(({ id }) => id));
  const used = tool.rules.filter(({ id }) => named.has(id));
  const indexes = new Map(used.map(({ id }, index) => [id, index]));
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: tool.name, semanticVersion: tool.version, rules: used.map(ruleOf) } },
        invocations: [invocation(notifications)],
        results: findings.map((finding) => resultOf(finding, indexes.get(finding.id))),
      },
    ],
  };
}

function invocation(notifications: readonly SarifNotification[]): object {
  if (notifications.length === 0) return { executionSuccessful: true };
  const toolExecutionNotifications = notifications.map(({ id, message }) => ({
    level: 'error',
    message: { text: message },
    associatedRule: { id },
  }));
  return { executionSuccessful: false, toolExecutionNotifications };
}

function ruleOf({ id, summary, help, helpUri }: SarifRule): object {
  return {
    id,
    shortDescription: { text: summary },
    help: { text: help },
    ...(helpUri !== undefined && { helpUri }),
  };
}

function resultOf(
  { id, level, subject, message, suppressed }: SarifFinding,
  ruleIndex: number | undefined,
): object {
  return {
    ruleId: id,
    ...(ruleIndex === undefined ? {} : { ruleIndex }),
    level: sarifLevels[level],
    message: { text: `${subject}: ${message}` },
    locations: [{ logicalLocations: [{ fullyQualifiedName: subject, kind: 'resource' }] }],
    ...(suppressed !== undefined && {
      suppressions: [{ kind: 'external', justification: suppressed }],
    }),
    partialFingerprints: { 'subjectAndMessage/v1': `${subject} ${id} ${message}` },
  };
}
