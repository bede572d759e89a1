import type { Rule } from '../../settings/rules.ts';
import { unencrypted } from '../../vault/address.ts';
import type { InjectionDefaults } from '../contract.ts';
import { annotations } from './annotations.ts';
import type { Wish, Wishes } from './wishes.ts';

/** What rules look at. */
export interface Asked {
  readonly wishes: Wishes;
  readonly defaults: InjectionDefaults;
  /** The ServiceConfig that selects the pod. */
  readonly config: string | undefined;
}

/** What a plan needs beside right values; each led by the annotation that would mend it. */
export const rules: readonly Rule<Asked>[] = [
  addressKnown,
  addressEncrypted,
  roleKnown,
  secretsKnown,
  verified,
  ...(['proxyRole', 'proxyUpstream', 'proxyTransitKey', 'proxyCallerKeys'] as const).map(withProxy),
];

/** The secrets server, and who says so. */
export function addressOf({ wishes, defaults }: Asked): Wish<string> | undefined {
  const { vaultAddress } = defaults;
  return (
    wishes.vaultAddress ??
    (vaultAddress === undefined ? undefined : { place: 'SVC_OPERATOR_VAULT_ADDR', value: vaultAddress })
  );
}

function addressKnown(asked: Asked): string | undefined {
  if (addressOf(asked) !== undefined) return undefined;
  const { name, expects } = annotations.vaultAddress;
  return `${name}: required, should be ${expects}; or set ${memberOf(asked, 'vault.address')}, or operator.vaultAddress for all pods`;
}

function addressEncrypted(asked: Asked): string | undefined {
  const address = addressOf(asked);
  return address && unencrypted(address.place, new URL(address.value));
}

function roleKnown(asked: Asked): string | undefined {
  if (asked.wishes.vaultRole !== undefined) return undefined;
  const { name, expects } = annotations.vaultRole;
  return `${name}: required, should be ${expects}; or set ${memberOf(asked, 'vault.role')}`;
}

function secretsKnown(asked: Asked): string | undefined {
  const { secretPaths, secretMappings } = asked.wishes;
  if ([secretPaths, secretMappings].some((wish) => wish !== undefined && wish.value.length > 0))
    return undefined;
  const { name, expects } = annotations.secretPaths;
  return `${name}: required, should be ${expects}; or set ${annotations.secretMapping.name}, or ${memberOf(asked, 'secretPaths')}`;
}

function memberOf({ config }: Asked, member: string): string {
  return config === undefined
    ? `${member} of a ServiceConfig that selects the pod`
    : `${member} of ServiceConfig ${config}`;
}

function verified({ wishes: { skipVerify }, defaults }: Asked): string | undefined {
  return skipVerify?.value === true && !defaults.development
    ? `${skipVerify.place}: should be false, because the operator does not run in development mode`
    : undefined;
}

/** A ServiceConfig may keep what its proxy would need while it is off; an annotation of it is a misunderstanding. */
function withProxy(key: 'proxyRole' | 'proxyUpstream' | 'proxyTransitKey' | 'proxyCallerKeys'): Rule<Asked> {
  return ({ wishes }) => {
    const place = wishes[key]?.place;
    return place?.startsWith('svc/') && wishes.proxyEnabled?.value !== true
      ? `${place}: means nothing without ${annotations.s3Proxy.name}: "true"`
      : undefined;
  };
}
