/**
 * Variables that tell a program what to run, what to trust or where to send data, so a secret's field must not become
 * one unintentionally.
 */
export interface SteeringFamily {
  /** Programs that read them. */
  readonly readBy: string;
  /** What somebody gains who sets one of them. */
  readonly gives: string;
  /** Variable names; one `*` stands for any characters. */
  readonly names: readonly string[];
  /** Names are case-insensitive, like those for proxies. */
  readonly anyCase?: boolean;
}

export const words = (text: string): readonly string[] => text.trim().split(/\s+/);
