/** A cloud in its own process, which dies at a point if one is given: `cloud.ts ASSEMBLY DATA [POINT NTH]`. */
import { startCloud } from '../../../local/cloud.ts';
import { killAt, type PointName } from './points.ts';

const [assembly = '', dataDir = '', point, nth] = process.argv.slice(2);
const cloud = await startCloud({ assembly, dataDir, mortal: true });
if (point !== undefined) cloud.faults.use(killAt(point as PointName, Number(nth)));
console.log(`ready ${cloud.url}/mcp`);
