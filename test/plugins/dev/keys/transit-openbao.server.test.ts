import { startOpenBao } from '../../../support/openbao.ts';
import { transitConformance } from './transit-conformance.ts';

transitConformance('OpenBao', () => startOpenBao());
