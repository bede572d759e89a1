import { startVersityGw } from '../../../support/versitygw.ts';
import { storeConformance } from './store-conformance.ts';

storeConformance('versitygw', () => startVersityGw());
