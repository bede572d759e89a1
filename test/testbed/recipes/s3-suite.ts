import { ownGoTool } from './own-go-tool.ts';

/** versitygw's own integration suite, of the version that serves as the store. */
export const s3Suite = ownGoTool('s3-suite', '1.8.0');
