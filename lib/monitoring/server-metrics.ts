import { Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Repair } from '../../functions/reconciler/decide.ts';
import { NAMESPACE } from '../../functions/tasks/log.ts';

/** The metrics of tasks that a server publishes, for itself and for each tool: docs/events.md, "Metrics". */
export abstract class TaskMetrics extends Construct {
  protected abstract readonly dimensions: Readonly<Record<string, string>>;

  /** A metric by its name. The methods below have the statistics that fit. @default the average over 5 minutes */
  metric(metricName: string, props?: MetricOptions): Metric {
    return new Metric({ namespace: NAMESPACE, metricName, dimensionsMap: this.dimensions, ...props }).attachTo(this);
  }

  /** New tasks. @default the sum over 5 minutes */
  metricCreated(props?: MetricOptions): Metric {
    return this.sum('Created', props);
  }

  /** Times a task asked its client something. @default the sum over 5 minutes */
  metricAsked(props?: MetricOptions): Metric {
    return this.sum('Asked', props);
  }

  /** Completed tasks, also those whose tool called its result an error. @default the sum over 5 minutes */
  metricCompleted(props?: MetricOptions): Metric {
    return this.sum('Completed', props);
  }

  /** Failed tasks. @default the sum over 5 minutes */
  metricFailed(props?: MetricOptions): Metric {
    return this.sum('Failed', props);
  }

  /** Cancelled tasks. @default the sum over 5 minutes */
  metricCancelled(props?: MetricOptions): Metric {
    return this.sum('Cancelled', props);
  }

  /** Completed tasks whose tool called its result an error. @default the sum over 5 minutes */
  metricToolErrors(props?: MetricOptions): Metric {
    return this.sum('ToolErrors', props);
  }

  /** The time from the call until the workflow began, in ms. @default the 99th percentile over 5 minutes */
  metricTimeToStart(props?: MetricOptions): Metric {
    return this.time('TimeToStart', props);
  }

  /** The time from the call to the end, in ms. @default the 99th percentile over 5 minutes */
  metricTimeToEnd(props?: MetricOptions): Metric {
    return this.time('TimeToEnd', props);
  }

  /** The part of `TimeToEnd` in which a task waited for answers, in ms. @default the 99th percentile over 5 minutes */
  metricTimeWaitingForInput(props?: MetricOptions): Metric {
    return this.time('TimeWaitingForInput', props);
  }

  protected sum(name: string, props?: MetricOptions): Metric {
    return this.metric(name, { statistic: Stats.SUM, ...props });
  }

  protected time(name: string, props?: MetricOptions): Metric {
    return this.metric(name, { statistic: Stats.p(99), ...props });
  }
}

/** The metrics that a server has beside the metrics of its tasks. The sweep publishes them once a minute. */
export abstract class ServerMetrics extends TaskMetrics {
  /** Sweeps that ended. @default the sum over 5 minutes */
  metricSweep(props?: MetricOptions): Metric {
    return this.sum('Sweep', props);
  }

  /** Tasks that were due for a check. @default the sum over 5 minutes */
  metricDue(props?: MetricOptions): Metric {
    return this.sum('Due', props);
  }

  /** Tasks that a sweep left to the next one. @default the sum over 5 minutes */
  metricLeft(props?: MetricOptions): Metric {
    return this.sum('Left', props);
  }

  /** Tasks that the sweep ended at their deadline. @default the sum over 5 minutes */
  metricOverdue(props?: MetricOptions): Metric {
    return this.sum('Overdue', props);
  }

  /** Checks of the sweep that failed. @default the sum over 5 minutes */
  metricErrors(props?: MetricOptions): Metric {
    return this.sum('Errors', props);
  }

  /** Tasks that were repaired, by what was wrong with them. @default the sum over 5 minutes */
  metricRepaired(kind: Repair, props?: MetricOptions): Metric {
    return this.sum('Repaired', { dimensionsMap: { ...this.dimensions, Kind: kind }, ...props });
  }

  /** The age of the oldest unfinished task, in ms. @default the maximum over 5 minutes */
  metricTimeOldestOpen(props?: MetricOptions): Metric {
    return this.metric('TimeOldestOpen', { statistic: Stats.MAXIMUM, ...props });
  }

  /** Requests whose token could not be checked, with `oauth`. Refused tokens do not count. @default the sum over 5 minutes */
  metricAuthorizerErrors(props?: MetricOptions): Metric {
    return this.sum('AuthorizerErrors', props);
  }

  /** MCP events that their receivers took. Needs `events`, like all metrics of deliveries. @default the sum over 5 minutes */
  metricEventsDelivered(props?: MetricOptions): Metric {
    return this.sum('EventsDelivered', props);
  }

  /** Attempts to deliver an MCP event that will be tried again. @default the sum over 5 minutes */
  metricEventAttemptsFailed(props?: MetricOptions): Metric {
    return this.sum('EventAttemptsFailed', props);
  }

  /** MCP events that are not tried again, since the receiver refused them or was away for too long. @default the sum over 5 minutes */
  metricEventsGivenUp(props?: MetricOptions): Metric {
    return this.sum('EventsGivenUp', props);
  }

  /** The time from the change of a task until a receiver took its event, in ms. @default the 99th percentile over 5 minutes */
  metricTimeToDelivery(props?: MetricOptions): Metric {
    return this.time('TimeToDelivery', props);
  }

  /** For how long all attempts for one subscription have failed, in ms. @default the maximum over 5 minutes */
  metricTimeDeliveryFails(props?: MetricOptions): Metric {
    return this.metric('TimeDeliveryFails', { statistic: Stats.MAXIMUM, ...props });
  }

  /** For how long new events of one owner could not come into its log, in ms. @default the maximum over 5 minutes */
  metricTimeLoggingFails(props?: MetricOptions): Metric {
    return this.metric('TimeLoggingFails', { statistic: Stats.MAXIMUM, ...props });
  }
}
