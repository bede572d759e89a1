import { startOpenBao } from '../../../../support/openbao.ts';
import { kvConformance } from './kv-conformance.ts';

kvConformance('OpenBao', () => startOpenBao());
