import { startCloud } from 'mcp-task-server-local';

/** `npm start`: what `cdk synth` wrote, in this process. */
const port = Number(process.env.PORT ?? 3000);
const onLog = (source: string, line: string) => console.error(`${source}: ${line}`);
const cloud = await startCloud({ assembly: 'cdk.out', port, onLog });
console.log(`ready ${cloud.url}/mcp`);
