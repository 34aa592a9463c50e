import type { TaskContext, ToolEvent, ToolResult, ToolReturn } from '../tool/contract.ts';
import { reportProgress } from '../tool/progress.ts';
import { askToConfirm, type Decision, readDecision } from './deploy/confirm.ts';
import { versionProblem } from './deploy/manifest.ts';
import { asPlan, type DeployArguments, type Plan, planFor, stepsOf } from './deploy/plan.ts';
import { type Announce, type Release, runSteps } from './deploy/run.ts';

/** Round 1 plans and asks; round 2 knows the answer and, on a yes, carries the plan out. */
export async function handler(event: ToolEvent<DeployArguments>): Promise<ToolReturn> {
  const problem = versionProblem(event.arguments.version);
  if (problem !== undefined) return { content: [{ type: 'text', text: problem }], isError: true };
  const response = event.inputResponses.confirm;
  const plan = asPlan(event.requestState);
  // An answer without the plan it was given to is no answer: ask again.
  if (response === undefined || plan === undefined) return askToConfirm(planFor(event.arguments));
  const decision = readDecision(response);
  if (!decision.confirmed) return notDeployed(plan, decision.reason, []);
  const release = await runSteps(plan, stepsOf(plan, decision.strategy), announcer(event.task));
  return release.finished
    ? deployed(plan, decision, release)
    : notDeployed(plan, 'the task was cancelled', release.steps);
}

function announcer(task: TaskContext | undefined): Announce {
  return (title, number, total) =>
    reportProgress(task, `Step ${number}/${total}: ${title}`, { progress: number - 1, total });
}

function deployed(plan: Plan, { strategy, note }: Decision, { digest, steps }: Release): ToolResult {
  const { service, region, version } = plan;
  const endpoint = `https://${service}.${region}.deploy.example`;
  const lines = steps.map(({ title, result }, index) => `${index + 1}. ${title}: ${result}`);
  const text = [`Deployed ${service} ${version} to ${region} (${strategy}): ${endpoint}`, ...lines].join('\n');
  const outcome = { deployed: true, service, region, version, endpoint, strategy, digest, steps };
  return { content: [{ type: 'text', text }], structuredContent: note === undefined ? outcome : { ...outcome, note } };
}

function notDeployed({ service, region, version }: Plan, reason: string, steps: Release['steps']): ToolResult {
  const text = `${service} ${version} was not deployed to ${region}: ${reason}.`;
  return {
    content: [{ type: 'text', text }],
    structuredContent: { deployed: false, service, region, version, reason, steps },
  };
}
