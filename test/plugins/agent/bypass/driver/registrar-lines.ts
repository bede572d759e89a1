import type { Exit } from '../../../../support/child.ts';

/** What a registrar is told. */
export type RegistrarCommand =
  | {
      readonly do: 'start';
      readonly id: number;
      readonly program: string;
      readonly args: readonly string[];
      readonly env: Record<string, string>;
    }
  | { readonly do: 'send'; readonly id: number; readonly line: string }
  | { readonly do: 'close' | 'kill'; readonly id: number }
  | { readonly do: 'register' };

export interface Refused {
  /** Of gRPC. */
  readonly status: string;
  readonly message: string;
}

/** What a registrar says: about itself, or about a child by its number. */
export type RegistrarLine =
  | { readonly ready: true }
  | { readonly registered: { readonly tier: number; readonly enforcing: boolean } }
  | { readonly refused: Refused }
  | { readonly id: number; readonly pid: number }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly ended: Exit };
