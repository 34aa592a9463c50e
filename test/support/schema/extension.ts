import {
  CancelTaskResultV2Schema,
  CreateTaskResultV2Schema,
  GetTaskResultV2Schema,
  TaskStatusNotificationV2Schema,
  TaskSubscriptionAcknowledgedNotificationsV2Schema,
  UpdateTaskResultV2Schema,
} from '@modelcontextprotocol/ext-tasks/core/v2';

interface Schema {
  safeParse(value: unknown): {
    readonly success: boolean;
    readonly error?: { readonly issues: readonly { path: readonly PropertyKey[]; message: string }[] } | undefined;
  };
}

/** The schemas of `io.modelcontextprotocol/tasks` for messages of a server. */
const schemas = {
  CreateTaskResult: CreateTaskResultV2Schema,
  GetTaskResult: GetTaskResultV2Schema,
  UpdateTaskResult: UpdateTaskResultV2Schema,
  CancelTaskResult: CancelTaskResultV2Schema,
  TaskStatusNotification: TaskStatusNotificationV2Schema,
  TaskSubscriptionAcknowledgedNotifications: TaskSubscriptionAcknowledgedNotificationsV2Schema,
} satisfies Record<string, Schema>;

/** The problems of `value` as a `name` of the tasks extension; none if it fits. */
export function fitsExtension(name: keyof typeof schemas, value: unknown): string[] {
  const schema: Schema = schemas[name];
  const { issues = [] } = schema.safeParse(value).error ?? {};
  return issues.map(({ path, message }) => `${[`ext-tasks ${name}`, ...path.map(String)].join('/')} ${message}`);
}
