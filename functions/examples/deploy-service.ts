import { defineTool, type ToolResult } from 'mcp-task-server/tool';
import { confirmation, DEFAULT_STRATEGY } from './deploy/confirm.ts';
import { type Deployment, deployService } from './deploy/definition.ts';
import { planFor } from './deploy/plan.ts';
import { release } from './deploy/release.ts';

/** Why nothing was deployed, by the answer to the question. */
const REASONS = {
  accept: 'it was not confirmed',
  decline: 'the confirmation was declined',
  cancel: 'the confirmation was cancelled',
};

/** Plans and asks; on a yes, carries the plan out. */
export const handler = defineTool(deployService, async (args, task) => {
  const plan = planFor(args);
  const { service, region, version } = plan;
  const { confirm } = await task.requireInput({ confirm: confirmation(plan) });
  if (confirm.action !== 'accept' || !confirm.content.confirm) {
    const reason = REASONS[confirm.action];
    const text = `${service} ${version} was not deployed to ${region}: ${reason}.`;
    return result(text, { deployed: false, service, region, version, reason, steps: [] });
  }
  const { strategy = DEFAULT_STRATEGY, note } = confirm.content;
  const { digest, steps } = await release(plan, strategy, task);
  const endpoint = `https://${service}.${region}.deploy.example`;
  const lines = steps.map((step, index) => `${index + 1}. ${step.title}: ${step.result}`);
  const text = [`Deployed ${service} ${version} to ${region} (${strategy}): ${endpoint}`, ...lines].join('\n');
  const outcome = { deployed: true, service, region, version, endpoint, strategy, digest, steps };
  return result(text, note ? { ...outcome, note } : outcome);
});

function result(text: string, structuredContent: Deployment): ToolResult<Deployment> {
  return { content: [{ type: 'text', text }], structuredContent };
}
