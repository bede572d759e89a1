import type { Component } from '../../runtime/component/contract.ts';
import { checkOperator } from './rules.ts';
import { type OperatorSettings, operatorSettings } from './settings.ts';
import { startOperator } from './start.ts';

/** The operator: webhook and controllers. */
export const operator: Component<OperatorSettings> = {
  name: 'operator',
  settings: operatorSettings,
  check: checkOperator,
  start: startOperator,
};
