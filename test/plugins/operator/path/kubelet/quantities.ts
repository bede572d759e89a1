const units: Readonly<Record<string, number>> = {
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  k: 1e3,
  M: 1e6,
  G: 1e9,
};
const periodUs = 100_000;

/** Bytes of a quantity such as `128Mi`. */
export function memoryBytes(quantity: string): number {
  const [, amount, unit = ''] = /^(\d+)(\w*)$/.exec(quantity) ?? [];
  const factor = unit === '' ? 1 : units[unit];
  if (amount === undefined || factor === undefined) throw new Error(`no quantity: ${quantity}`);
  return Number(amount) * factor;
}

/** Processor time, as the kernel takes it, of a quantity such as `200m`. */
export function cpuQuota(quantity: string): { readonly quota: number; readonly period: number } {
  const cores = quantity.endsWith('m') ? Number(quantity.slice(0, -1)) / 1_000 : Number(quantity);
  return { quota: Math.round(cores * periodUs), period: periodUs };
}
