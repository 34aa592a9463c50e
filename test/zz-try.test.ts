import { readFileSync } from 'node:fs';
import { test, vi } from 'vitest';
import { gunzipSync } from 'node:zlib';
vi.mock('/work/main/functions/examples/research/journal.ts', () => ({ journal: () => gunzipSync(readFileSync('/work/main/functions/examples/samples/journal.txt.gz')).toString() }));
import { handler } from '/work/main/functions/examples/research-topic.ts';
import { runTool } from '/work/main/functions/tool/index.ts';
test('x', async () => {
  for (const [topic, depth] of [['storm', 1], ['storm', 2], ['storm', 3], ['ice', 2], ['herring', 2], ['wind',2], ['telegraph',2], ['steamers',2], ['lamp oil', 2]] as const) {
    const t = performance.now();
    const ran = await runTool(handler, { topic, depth }, { answers: {
      scope: (q) => ({ action: 'accept', content: { aspects: (q.params as any).requestedSchema.properties.aspects.items.enum, audience: 'statistician' } }),
      appendix: { action: 'accept', content: { append: true } },
    } });
    const r = ran.result as any;
    console.log(topic, depth, ran.rounds, Math.round(performance.now() - t), 'ms', JSON.stringify(r).length, (ran.asked.scope as any).params.requestedSchema.properties.aspects.items.enum, r.structuredContent?.appendix, r.structuredContent?.entries);
    if (topic === 'storm' && depth === 2) console.log(r.content[0].text.slice(0, 6000), r.content[1].resource.text.slice(0, 1500));
  }
});
